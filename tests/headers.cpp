// The owner of the precompiled headers that the tests share: it only has to exist.
