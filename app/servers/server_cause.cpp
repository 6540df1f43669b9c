#include "app/servers/server_cause.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>

namespace {

constexpr double kFullShare = 0.9;       // a fuller cache has no room for another request
constexpr double kSlowLinkMs = 500;      // a shorter delay is not noticed
constexpr double kSlowLinkFactor = 2.0;  // times what the server takes

struct CauseTr {
    Q_DECLARE_TR_FUNCTIONS(ServerCause)
};

QString seconds(double ms)
{
    return QLocale().toString(ms / 1000, 'f', 1);
}

}  // namespace

ServerCause findServerCause(const ServerFacts& facts)
{
    if (facts.pushedOut.value_or(0) > 0 && facts.kvShare.value_or(1) >= kFullShare)
        return {ServerCause::Kind::KvFull};
    if (facts.waiting.value_or(0) >= 1)
        return {ServerCause::Kind::Queue};
    if (facts.firstTokenMs && facts.serverFirstTokenMs &&
        *facts.firstTokenMs - *facts.serverFirstTokenMs > kSlowLinkMs &&
        *facts.firstTokenMs > kSlowLinkFactor * *facts.serverFirstTokenMs)
        return {ServerCause::Kind::SlowLink};
    return {};
}

QString serverCauseSentence(const ServerFacts& facts)
{
    switch (findServerCause(facts).kind) {
    case ServerCause::Kind::None:
        break;
    case ServerCause::Kind::KvFull:
        return CauseTr::tr(
            "Its KV cache is full: within the last minute %n request(s) lost their place in it and are "
            "computed again. Fewer or shorter conversations at a time help, or more memory for KV there.",
            nullptr, int(std::lround(*facts.pushedOut)));
    case ServerCause::Kind::Queue:
        return CauseTr::tr("%n request(s) wait for their turn there, so that an answer begins late. It helps where "
                           "the server answers more at a time, or another server takes some.",
                           nullptr, int(std::lround(*facts.waiting)));
    case ServerCause::Kind::SlowLink:
        return CauseTr::tr("The first token of the newest answer came after %1 s, and the server takes %2 s: the rest "
                           "is the way there and back, or something between.")
            .arg(seconds(*facts.firstTokenMs), seconds(*facts.serverFirstTokenMs));
    }
    return {};
}
