#include "app/server/socket.h"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include <winsock2.h>
#include <ws2tcpip.h>

namespace server {

namespace {

using std::chrono::milliseconds;

SOCKET native(Socket::Handle handle)
{
    return SOCKET(handle);
}

/// Says whether it happens within that time.
bool wait_for(Socket::Handle handle, short events, milliseconds patience)
{
    WSAPOLLFD wanted{native(handle), events, 0};
    return ::WSAPoll(&wanted, 1, int(std::max<milliseconds::rep>(patience.count(), 0))) > 0;
}

bool is_for_later()
{
    return ::WSAGetLastError() == WSAEWOULDBLOCK;
}

/// Starts Windows' sockets, before the first one is made. False: that failed.
bool sockets_are_there()
{
    static const bool started = [] {
        WSADATA data;
        return ::WSAStartup(MAKEWORD(2, 2), &data) == 0;
    }();
    return started;
}

void never_wait(SOCKET socket)
{
    u_long yes = 1;
    ::ioctlsocket(socket, FIONBIO, &yes);
    ::SetHandleInformation(reinterpret_cast<HANDLE>(socket), HANDLE_FLAG_INHERIT, 0);
}

bool is_loopback(const sockaddr* address)
{
    if (address->sa_family == AF_INET)
        return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

std::string text_of(const sockaddr_storage& address, int size)
{
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), DWORD(host.size()), port.data(),
                      DWORD(port.size()), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "?";
    const std::string name = host.data();
    return (address.ss_family == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

int port_of(SOCKET socket)
{
    sockaddr_storage address{};
    int size = sizeof(address);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Socket::~Socket()
{
    if (handle_ != kNone)
        ::closesocket(native(handle_));
}

Socket::Read Socket::read(char* to, std::size_t size, milliseconds patience)
{
    if (!wait_for(handle_, POLLRDNORM, patience))
        return {Came::Nothing, 0};
    const int bytes = ::recv(native(handle_), to, int(std::min<std::size_t>(size, 1 << 20)), 0);
    if (bytes > 0)
        return {Came::Bytes, std::size_t(bytes)};
    return {bytes == 0 ? Came::End : is_for_later() ? Came::Nothing : Came::Broken, 0};
}

std::optional<std::size_t> Socket::write(std::string_view bytes, milliseconds patience)
{
    const auto send = [&] {
        return ::send(native(handle_), bytes.data(), int(std::min<std::size_t>(bytes.size(), 1 << 20)), 0);
    };
    auto sent = send();
    if (sent < 0 && is_for_later() && wait_for(handle_, POLLWRNORM, patience))
        sent = send();
    if (sent < 0 && !is_for_later())
        return std::nullopt;
    return std::size_t(std::max<decltype(sent)>(sent, 0));
}

bool Socket::peer_is_gone() const
{
    char one = 0;
    const int bytes = ::recv(native(handle_), &one, 1, MSG_PEEK);
    return bytes == 0 || (bytes < 0 && !is_for_later());
}

void Socket::finish(milliseconds patience)
{
    ::shutdown(native(handle_), SD_SEND);
    std::array<char, 4096> dropped;
    for (const auto end = Clock::now() + patience; Clock::now() < end;) {
        const Came came =
            read(dropped.data(), dropped.size(), std::chrono::ceil<milliseconds>(end - Clock::now())).came;
        if (came == Came::End || came == Came::Broken)
            break;
    }
}

engine::Result<Listener> Listener::open(const std::string& host, int port, From from)
{
    const auto refuse = [&](const std::string& why) {
        return engine::fail(engine::Error::Code::BadRequest,
                            "cannot listen on " + host + ", port " + std::to_string(port) + ": " + why);
    };
    const auto last_error = [] { return "Windows' error " + std::to_string(::WSAGetLastError()); };
    if (!sockets_are_there())
        return refuse("Windows has no sockets for it");
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
        return refuse("there is no such address");
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);

    Listener listener;
    listener.reached_from_elsewhere_ = !is_loopback(found->ai_addr);
    if (from == From::ThisMachine && listener.reached_from_elsewhere_)
        return refuse(std::string("other machines could reach it") + kNeedsKey);
    const SOCKET handle = ::socket(found->ai_family, SOCK_STREAM, IPPROTO_TCP);
    if (handle == INVALID_SOCKET)
        return refuse(last_error());
    listener.socket_ = Socket(Socket::Handle(handle));
    never_wait(handle);
    const BOOL yes = TRUE;  // else another program could take over the port
    ::setsockopt(handle, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes), sizeof(yes));
    if (::bind(handle, found->ai_addr, int(found->ai_addrlen)) != 0 || ::listen(handle, SOMAXCONN) != 0)
        return refuse(::WSAGetLastError() == WSAEADDRINUSE ? "another program listens there" : last_error());
    listener.port_ = port_of(handle);
    return listener;
}

/// Returns nothing: Windows hands over no sockets.
engine::Result<std::optional<Listener>> Listener::inherited(From)
{
    return std::nullopt;
}

std::optional<Listener::Accepted> Listener::accept(milliseconds patience)
{
    if (!wait_for(socket_.handle_, POLLRDNORM, patience))
        return std::nullopt;
    sockaddr_storage address{};
    int size = sizeof(address);
    const SOCKET handle = ::accept(native(socket_.handle_), reinterpret_cast<sockaddr*>(&address), &size);
    if (handle == INVALID_SOCKET) {
        if (const int error = ::WSAGetLastError(); error == WSAEMFILE || error == WSAENOBUFS)
            std::this_thread::sleep_for(patience);  // the connection still waits there
        return std::nullopt;
    }
    never_wait(handle);
    const BOOL yes = TRUE;  // each piece of an answer goes out at once
    ::setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes), sizeof(yes));
    return Accepted{Socket(Socket::Handle(handle)), text_of(address, size)};
}

}  // namespace server
