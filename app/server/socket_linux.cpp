#include "app/server/socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace server {

namespace {

using std::chrono::milliseconds;

/// Says whether it happens within that time.
bool wait_for(Socket::Handle handle, short events, milliseconds patience)
{
    pollfd wanted{int(handle), events, 0};
    return ::poll(&wanted, 1, int(std::max<milliseconds::rep>(patience.count(), 0))) > 0;
}

bool is_for_later()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

bool is_loopback(const sockaddr* address)
{
    if (address->sa_family == AF_INET)
        return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

std::string text_of(const sockaddr_storage& address, socklen_t size)
{
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), port.data(),
                      port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "?";
    const std::string name = host.data();
    return (address.ss_family == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

int port_of(Socket::Handle handle)
{
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    ::getsockname(int(handle), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Socket::~Socket()
{
    if (handle_ != kNone)
        ::close(int(handle_));
}

Socket::Read Socket::read(char* to, std::size_t size, milliseconds patience)
{
    if (!wait_for(handle_, POLLIN, patience))
        return {Came::Nothing, 0};
    const ssize_t bytes = ::recv(int(handle_), to, size, 0);
    if (bytes > 0)
        return {Came::Bytes, std::size_t(bytes)};
    return {bytes == 0 ? Came::End : is_for_later() ? Came::Nothing : Came::Broken, 0};
}

std::optional<std::size_t> Socket::write(std::string_view bytes, milliseconds patience)
{
    const auto send = [&] { return ::send(int(handle_), bytes.data(), bytes.size(), MSG_NOSIGNAL); };
    auto sent = send();
    if (sent < 0 && is_for_later() && wait_for(handle_, POLLOUT, patience))
        sent = send();
    if (sent < 0 && !is_for_later())
        return std::nullopt;
    return std::size_t(std::max<decltype(sent)>(sent, 0));
}

bool Socket::peer_is_gone() const
{
    char one = 0;
    const ssize_t bytes = ::recv(int(handle_), &one, 1, MSG_PEEK | MSG_DONTWAIT);
    return bytes == 0 || (bytes < 0 && !is_for_later());
}

void Socket::finish(milliseconds patience)
{
    ::shutdown(int(handle_), SHUT_WR);
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
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
        return refuse(::gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);

    Listener listener;
    listener.reached_from_elsewhere_ = !is_loopback(found->ai_addr);
    if (from == From::ThisMachine && listener.reached_from_elsewhere_)
        return refuse(std::string("other machines could reach it") + kNeedsKey);
    listener.socket_ = Socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int handle = int(listener.socket_.handle_), yes = 1;
    if (handle < 0)
        return refuse(std::strerror(errno));
    ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));  // connections that ended linger for minutes
    if (::bind(handle, found->ai_addr, found->ai_addrlen) != 0 || ::listen(handle, SOMAXCONN) != 0)
        return refuse(errno == EADDRINUSE ? "another program listens there" : std::strerror(errno));
    listener.port_ = port_of(handle);
    return listener;
}

engine::Result<std::optional<Listener>> Listener::inherited(From from)
{
    constexpr int kFirst = 3;  // of the descriptors that systemd hands over
    const auto number = [](const char* name) {
        const char* text = std::getenv(name);
        return text ? std::strtol(text, nullptr, 10) : 0;
    };
    if (number("LISTEN_PID") != ::getpid() || number("LISTEN_FDS") < 1)
        return std::nullopt;
    const auto refuse = [](const std::string& why) {
        return engine::fail(engine::Error::Code::BadRequest, "the socket that was handed over " + why);
    };
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    int listens = 0;
    socklen_t flag_size = sizeof(listens);
    if (number("LISTEN_FDS") > 1)
        return refuse("is not alone: one is enough");
    if (::getsockname(kFirst, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
        ::getsockopt(kFirst, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_size) != 0 || listens == 0 ||
        (address.ss_family != AF_INET && address.ss_family != AF_INET6))
        return refuse("does not listen for TCP");
    Listener listener;
    listener.socket_ = Socket(kFirst);
    listener.reached_from_elsewhere_ = !is_loopback(reinterpret_cast<const sockaddr*>(&address));
    if (from == From::ThisMachine && listener.reached_from_elsewhere_)
        return refuse(std::string("could be reached by other machines") + kNeedsKey);
    ::fcntl(kFirst, F_SETFD, FD_CLOEXEC);
    ::fcntl(kFirst, F_SETFL, ::fcntl(kFirst, F_GETFL) | O_NONBLOCK);
    listener.port_ = port_of(kFirst);
    listener.address_ = text_of(address, size);
    return listener;
}

std::optional<Listener::Accepted> Listener::accept(milliseconds patience)
{
    if (!wait_for(socket_.handle_, POLLIN, patience))
        return std::nullopt;
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int handle =
        ::accept4(int(socket_.handle_), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (handle < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            std::this_thread::sleep_for(patience);  // no descriptor is free, and the connection goes on waiting
        return std::nullopt;
    }
    const int yes = 1;
    ::setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));  // each piece of an answer goes out at once
    return Accepted{Socket(handle), text_of(address, size)};
}

}  // namespace server
