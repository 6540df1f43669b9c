// Client says over its socket exactly what a test wants it to say.
#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QList>
#include <QTcpSocket>

namespace server_test {

constexpr int kPatience_ms = 60'000;  // a busy machine may take its time

struct Answer {
    int status = 0;  // 0: none came
    QByteArray head, body;
    QJsonObject json() const { return QJsonDocument::fromJson(body).object(); }
    QByteArray header(const QByteArray& name) const
    {
        for (const QByteArray& line : head.split('\n'))
            if (line.toLower().startsWith(name.toLower() + ':'))
                return line.mid(name.size() + 1).trimmed();
        return {};
    }
    /// Returns what the data lines of a stream hold, [DONE] included.
    QList<QByteArray> events() const
    {
        QList<QByteArray> all;
        for (const QByteArray& line : body.split('\n'))
            if (line.startsWith("data: "))
                all.append(line.mid(6));
        return all;
    }
};

inline QByteArray unchunked(const QByteArray& text)
{
    QByteArray body;
    for (qsizetype at = 0; at < text.size();) {
        const qsizetype end = text.indexOf("\r\n", at);
        const qsizetype size = text.mid(at, end - at).toLongLong(nullptr, 16);
        if (end < 0 || size <= 0)
            break;
        body += text.mid(end + 2, size);
        at = end + 2 + size + 2;
    }
    return body;
}

class Client
{
public:
    explicit Client(int port)
    {
        socket_.connectToHost(QStringLiteral("127.0.0.1"), quint16(port));
        socket_.waitForConnected(kPatience_ms);
    }

    QTcpSocket& socket() { return socket_; }

    void say(const QByteArray& bytes)
    {
        socket_.write(bytes);
        while (socket_.bytesToWrite() > 0 && socket_.waitForBytesWritten(kPatience_ms)) {
        }
    }

    /// Waits until it has heard this, or the server has hung up. Returns all that was heard so far.
    QByteArray heard_until(const QByteArray& wanted)
    {
        QElapsedTimer timer;
        timer.start();
        while (!heard_.contains(wanted) && timer.elapsed() < kPatience_ms) {
            const bool came = socket_.waitForReadyRead(200);
            heard_ += socket_.readAll();
            if (!came && socket_.state() != QAbstractSocket::ConnectedState)
                break;
        }
        return heard_;
    }

    /// Throws away what was heard so far, which then is no part of the next answer.
    void forget() { heard_.clear(); }

    /// Returns all of one answer, or what came until the server hung up.
    Answer answer()
    {
        heard_until("\r\n\r\n");
        const qsizetype end = heard_.indexOf("\r\n\r\n");
        if (end < 0)
            return {};
        Answer answer;
        answer.head = heard_.left(end + 2);
        answer.status = answer.head.mid(9, 3).toInt();
        if (answer.header("Transfer-Encoding") == "chunked") {
            heard_until("\r\n0\r\n\r\n");
            answer.body = unchunked(heard_.mid(end + 4));
            heard_.remove(0, heard_.indexOf("\r\n0\r\n\r\n") + 7);
            return answer;
        }
        const qsizetype length = answer.header("Content-Length").toLongLong();
        while (heard_.size() < end + 4 + length && socket_.waitForReadyRead(kPatience_ms))
            heard_ += socket_.readAll();
        answer.body = heard_.mid(end + 4, length);
        heard_.remove(0, end + 4 + length);
        return answer;
    }

    Answer ask(const QByteArray& method, const QByteArray& path, const QByteArray& body = {},
               const QByteArray& headers = {})
    {
        say(request(method, path, body, headers));
        return answer();
    }

    static QByteArray request(const QByteArray& method, const QByteArray& path, const QByteArray& body = {},
                              const QByteArray& headers = {})
    {
        QByteArray text = method + ' ' + path + " HTTP/1.1\r\n" + headers;
        if (!headers.startsWith("Host:"))
            text += "Host: localhost\r\n";
        if (method == "POST")
            text += "Content-Length: " + QByteArray::number(body.size()) + "\r\n";
        return text + "\r\n" + body;
    }

private:
    QTcpSocket socket_;
    QByteArray heard_;
};

}  // namespace server_test
