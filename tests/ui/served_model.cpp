#include "tests/ui/served_model.h"

#include "tests/support/net/look_alike.h"

namespace {

class ModelOfThisMachine : public ServedModel
{
public:
    QString url() const override { return QString::fromStdString(m_server.url()); }
    void says(const QString& text, bool whole) override
    {
        using support::LookAlike;
        support::WebAnswer answer = LookAlike::stream({LookAlike::content(text.toStdString())}, whole ? "stop" : "",
                                                      whole ? "{\"prompt_tokens\":12,\"completion_tokens\":3}" : "");
        if (!whole) {
            answer.sent_bytes = std::int64_t(answer.body.size());
            answer.body += "data: ";
            answer.end = support::WebAnswer::End::Close;
        }
        m_server.says(answer);
    }
    void counts(const QString& page) override { m_server.counts(page.toStdString()); }

private:
    support::LookAlike m_server;
};

}  // namespace

std::unique_ptr<ServedModel> serveModel()
{
    return std::make_unique<ModelOfThisMachine>();
}
