// ContactedHosts tells the pages which machines this program has contacted since it was started.
#pragma once

#include "app/fetching/model_source.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <vector>

/// Sums up all requests to one host for one purpose. Times are ms since 1970; the bytes include headers.
class ContactedHost
{
    Q_GADGET
    QML_VALUE_TYPE(contactedHost)
    Q_PROPERTY(QString host MEMBER host CONSTANT)
    Q_PROPERTY(QString purpose MEMBER purpose CONSTANT)
    Q_PROPERTY(double firstMs MEMBER firstMs CONSTANT)
    Q_PROPERTY(double lastMs MEMBER lastMs CONSTANT)
    Q_PROPERTY(int requests MEMBER requests CONSTANT)
    Q_PROPERTY(double bytesSent MEMBER bytesSent CONSTANT)
    Q_PROPERTY(double bytesReceived MEMBER bytesReceived CONSTANT)

public:
    bool operator==(const ContactedHost&) const = default;

    QString host;
    QString purpose;  // for people, in their language
    double firstMs = 0;
    double lastMs = 0;
    int requests = 0;
    double bytesSent = 0;
    double bytesReceived = 0;
};
Q_DECLARE_METATYPE(ContactedHost)

/// Lists the connections of this run of the program, as they were at the last refresh(). Lives on the UI thread; owned
/// by Fetching.
class ContactedHosts : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QList<ContactedHost> hosts READ hosts NOTIFY changed)

public:
    explicit ContactedHosts(const ModelSource* source, QObject* parent = nullptr)
        : QObject(parent)
        , m_source(source)
    {
    }

    using Connections = std::function<std::vector<net::Connection>()>;
    /// Adds another part of the program whose connections are listed, too.
    void addSource(Connections connections) { m_others.append(std::move(connections)); }

    QList<ContactedHost> hosts() const { return m_hosts; }  // the newest contact first
    Q_INVOKABLE void refresh();

Q_SIGNALS:
    void changed();

private:
    const ModelSource* m_source;
    QList<Connections> m_others;
    QList<ContactedHost> m_hosts;
};
