// mingw-w64 emulates thread_local: a thread's variables may be freed before their destructors run. The scratch is kept
// under a pthread key instead, whose destructor is given the pointer that the key holds.
#include "kernels/cpu/scratch.h"

#include <memory>
#include <pthread.h>

namespace kernels {

namespace {

pthread_key_t make_key()
{
    pthread_key_t key = 0;
    if (pthread_key_create(&key, [](void* scratch) { delete static_cast<Scratch*>(scratch); }) != 0)
        throw std::bad_alloc();
    return key;
}

}  // namespace

Scratch& scratch_of_this_thread()
{
    static const pthread_key_t key = make_key();
    if (void* const known = pthread_getspecific(key))
        return *static_cast<Scratch*>(known);
    auto made = std::make_unique<Scratch>();
    if (pthread_setspecific(key, made.get()) != 0)
        throw std::bad_alloc();
    return *made.release();
}

}  // namespace kernels
