// Rows is a buffer of activations: `count` rows of `cols` floats without gaps, and the same rows rounded to 8 bits
// where a product wants them. Allocated once, at load.
#pragma once

#include "kernels/cpu.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace engine {

struct FreeAligned64 {
    void operator()(void* p) const { ::operator delete[](p, std::align_val_t{64}); }
};

template <class T>
using AlignedArray = std::unique_ptr<T[], FreeAligned64>;

/// Allocates `count` values that are not set. Throws std::bad_alloc; load() turns that into an error.
template <class T>
AlignedArray<T> aligned_array(std::size_t count)
{
    return AlignedArray<T>(static_cast<T*>(::operator new[](count * sizeof(T), std::align_val_t{64})));
}

/// Gives the memory in which rows lie. What is taken must be given back before the memory goes.
class RowMemory
{
public:
    virtual ~RowMemory() = default;
    /// Returns memory aligned to 64 bytes. Throws std::bad_alloc.
    virtual std::byte* take(std::size_t bytes) = 0;
    virtual void give_back(std::byte* memory) = 0;
};

RowMemory& host_row_memory();

/// Gives nothing, and counts what would be taken, in pieces of a multiple of `alignment` bytes.
class CountedMemory final : public RowMemory
{
public:
    explicit CountedMemory(std::size_t alignment = 1)
        : alignment_(alignment)
    {
    }
    std::byte* take(std::size_t bytes) override
    {
        bytes_ += (bytes + alignment_ - 1) / alignment_ * alignment_;
        return nullptr;
    }
    void give_back(std::byte*) override {}
    std::int64_t bytes() const { return std::int64_t(bytes_); }

private:
    std::size_t alignment_;
    std::size_t bytes_ = 0;
};

struct GiveBackRows {
    RowMemory* memory = nullptr;
    void operator()(std::byte* p) const { memory->give_back(p); }
};

/// A buffer of rows. Where it lies in a device's memory, only the backend that computes there may follow its addresses.
class Rows
{
public:
    Rows() = default;
    Rows(int capacity_rows, int capacity_cols, RowMemory& memory = host_row_memory())
        : memory_(&memory)
        , capacity_rows_(capacity_rows)
        , capacity_cols_(capacity_cols)
        , cols_(capacity_cols)
        , values_(piece(value_capacity_bytes()))
    {
    }
    /// Takes the values from other memory than the 8-bit copies.
    Rows(int capacity_rows, int capacity_cols, RowMemory& of_values, RowMemory& of_copies)
        : memory_(&of_copies)
        , capacity_rows_(capacity_rows)
        , capacity_cols_(capacity_cols)
        , cols_(capacity_cols)
        , values_(of_values.take(value_capacity_bytes()), GiveBackRows{&of_values})
    {
    }

    int cols() const { return cols_; }
    int count() const { return count_; }
    int capacity_rows() const { return capacity_rows_; }

    /// Sets the shape of the buffer; the values are to be written then.
    void set_shape(int count, int cols)
    {
        assert(count <= capacity_rows_ && cols <= capacity_cols_);
        count_ = count;
        cols_ = cols;
        rounded_ = false;
    }

    float* row(int r) { return values() + std::size_t(r) * std::size_t(cols_); }
    const float* row(int r) const { return values() + std::size_t(r) * std::size_t(cols_); }

    /// Says that the rows were written in place, so that their 8-bit copy is out of date.
    void changed() { rounded_ = false; }

    // The backend makes an 8-bit copy of the rows when a product first needs it; and, where a model needs more than 8
    // bits, one of what rounding lost, itself rounded to 8 bits.
    bool rounded() const { return rounded_; }
    void set_rounded() { rounded_ = true; }
    std::size_t q8_stride() const { return kernels::activation_row_bytes(kernels::Activation::Q8, cols_); }
    std::byte* q8(int r) { return rounded_row(q8_, r); }
    std::byte* q8_residual(int r) { return rounded_row(q8_residual_, r); }

    std::size_t value_capacity_bytes() const
    {
        return std::size_t(capacity_rows_) * std::size_t(capacity_cols_) * sizeof(float);
    }
    std::size_t q8_capacity_bytes() const
    {
        return kernels::activation_row_bytes(kernels::Activation::Q8, capacity_cols_) * std::size_t(capacity_rows_);
    }
    /// Returns the bytes that are taken so far.
    std::size_t bytes() const
    {
        return value_capacity_bytes() + (q8_ ? q8_capacity_bytes() : 0) + (q8_residual_ ? q8_capacity_bytes() : 0);
    }

private:
    using Piece = std::unique_ptr<std::byte[], GiveBackRows>;

    Piece piece(std::size_t bytes) { return Piece(memory_->take(bytes), GiveBackRows{memory_}); }
    float* values() const { return reinterpret_cast<float*>(values_.get()); }
    std::byte* rounded_row(Piece& rows, int r)
    {
        if (!rows)
            rows = piece(q8_capacity_bytes());
        return rows.get() + q8_stride() * std::size_t(r);
    }

    RowMemory* memory_ = nullptr;
    int capacity_rows_ = 0;
    int capacity_cols_ = 0;
    int count_ = 0;
    int cols_ = 0;
    bool rounded_ = false;
    Piece values_;
    Piece q8_;
    Piece q8_residual_;
};

}  // namespace engine
