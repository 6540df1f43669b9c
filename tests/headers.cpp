// Owns the precompiled headers that the tests share: the file only has to exist.
