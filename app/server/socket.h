// Socket is a TCP connection, Listener accepts connections; no call waits longer than its `patience`.
#pragma once

#include "app/server/clock.h"
#include "engine/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace server {

class Socket
{
public:
    using Handle = std::intptr_t;
    static constexpr Handle kNone = -1;

    Socket() = default;
    explicit Socket(Handle handle)
        : handle_(handle)
    {
    }
    Socket(Socket&& other) noexcept
        : handle_(std::exchange(other.handle_, kNone))
    {
    }
    Socket& operator=(Socket&& other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Socket();

    enum class Came { Bytes, End, Nothing, Broken };  // Nothing: not in time
    struct Read {
        Came came = Came::Broken;
        std::size_t bytes = 0;
    };
    Read read(char* to, std::size_t size, std::chrono::milliseconds patience);
    /// Writes as many bytes as possible in that time and returns their number, which may be 0; empty: the connection is
    /// broken.
    std::optional<std::size_t> write(std::string_view bytes, std::chrono::milliseconds patience);
    /// Says whether the other side has closed the connection.
    bool peer_is_gone() const;
    /// Ends the sending side, and reads for a moment what the other side still sends: if the connection were closed at
    /// once, the other side might lose the last bytes.
    void finish(std::chrono::milliseconds patience);

private:
    friend class Listener;
    Handle handle_ = kNone;
};

class Listener
{
public:
    enum class From { ThisMachine, Anywhere };
    struct Accepted {
        Socket socket;
        std::string client;  // "127.0.0.1:40100"
    };

    /// Opens a port; 0: a free one. BadRequest: there is no such address, it is taken, or From::ThisMachine was asked
    /// for and other machines could reach it.
    static engine::Result<Listener> open(const std::string& host, int port, From from);
    /// Returns the socket that the system listens on for this program (LISTEN_FDS); empty: there is none.
    static engine::Result<std::optional<Listener>> inherited(From from);

    /// Accepts the next connection, if one comes within that time.
    std::optional<Accepted> accept(std::chrono::milliseconds patience);
    int port() const { return port_; }
    /// Returns the address at which it listens; empty: where open() was told.
    const std::string& address() const { return address_; }
    bool reached_from_elsewhere() const { return reached_from_elsewhere_; }

private:
    /// The end of a refusal for From::ThisMachine. It names options of `spillway-cli serve`, since the window never
    /// asks for another address.
    static constexpr const char* kNeedsKey = ", which needs a key: --api-key or --api-key-file";

    Socket socket_;
    int port_ = 0;
    std::string address_;
    bool reached_from_elsewhere_ = false;
};

}  // namespace server
