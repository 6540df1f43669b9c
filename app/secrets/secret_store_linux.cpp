// Uses the Secret Service of the user's session through libsecret. The library is opened when it is needed first, with
// declarations of our own: so the program starts where libsecret is missing, and is built without GLib.
#include "app/secrets/secret_store.h"
#include "engine/caught.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace secrets {

namespace {

using Code = engine::Error::Code;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kServicesPatience = 5s;  // the service is a program on this machine
constexpr std::chrono::milliseconds kUsersPatience = 60s;    // to type a password
constexpr std::chrono::milliseconds kGivingUp = 200ms;       // after a call was told to stop

// ---- libsecret and the few functions of GLib that go with it, as their headers declare them ----

struct GObject;
struct GHashTable;
struct GError {
    std::uint32_t domain;
    int code;
    char* message;
};
struct GList {
    void* data;
    GList* next;
    GList* prev;
};
struct SecretSchema {
    const char* name;
    int flags;
    struct {
        const char* name;
        int type;
    } attributes[32];
    int reserved;
    void* reserved_pointers[7];
};
constexpr int kSessionBus = 2, kNoFlags = 0, kStringAttribute = 0;
constexpr const char* kDefaultCollection = "default";

/// Secrets are found by their id, which is not secret itself.
const SecretSchema kSchema{"org.spillway.Spillway.Secret", kNoFlags, {{"id", kStringAttribute}}, 0, {}};

struct Libsecret {
    GObject* (*g_cancellable_new)();
    void (*g_cancellable_cancel)(GObject*);
    int (*g_cancellable_is_cancelled)(GObject*);
    void (*g_object_unref)(void*);
    void (*g_error_free)(GError*);
    void (*g_list_free)(GList*);
    void (*g_hash_table_unref)(GHashTable*);
    GObject* (*g_bus_get_sync)(int type, GObject* cancellable, GError**);
    void (*g_dbus_connection_set_exit_on_close)(GObject*, int);
    int (*g_dbus_connection_is_closed)(GObject*);
    GObject* (*secret_service_get_sync)(int flags, GObject* cancellable, GError**);
    void (*secret_service_disconnect)();
    GHashTable* (*secret_attributes_build)(const SecretSchema*, ...);
    GList* (*secret_service_search_sync)(GObject* service, const SecretSchema*, GHashTable*, int flags,
                                         GObject* cancellable, GError**);
    int (*secret_item_get_locked)(void* item);
    GObject* (*secret_collection_for_alias_sync)(GObject* service, const char* alias, int flags, GObject* cancellable,
                                                 GError**);
    int (*secret_collection_get_locked)(GObject*);
    int (*secret_service_unlock_sync)(GObject* service, GList* objects, GObject* cancellable, GList** unlocked,
                                      GError**);
    char* (*secret_password_lookup_sync)(const SecretSchema*, GObject* cancellable, GError**, ...);
    void (*secret_password_free)(char*);
    int (*secret_password_store_sync)(const SecretSchema*, const char* collection, const char* label,
                                      const char* password, GObject* cancellable, GError**, ...);
    int (*secret_password_clear_sync)(const SecretSchema*, GObject* cancellable, GError**, ...);
};

template <typename Function>
bool find_function(void* library, Function& function, const char* name)
{
    function = reinterpret_cast<Function>(dlsym(library, name));  // also among the libraries that it loads
    return function != nullptr;
}

std::optional<Libsecret> open_libsecret()
{
    void* const library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    Libsecret found{};
    const auto has = [&](auto& function, const char* name) { return find_function(library, function, name); };
    if (!library || !has(found.g_cancellable_new, "g_cancellable_new") ||
        !has(found.g_cancellable_cancel, "g_cancellable_cancel") ||
        !has(found.g_cancellable_is_cancelled, "g_cancellable_is_cancelled") ||
        !has(found.g_object_unref, "g_object_unref") || !has(found.g_error_free, "g_error_free") ||
        !has(found.g_list_free, "g_list_free") || !has(found.g_hash_table_unref, "g_hash_table_unref") ||
        !has(found.g_bus_get_sync, "g_bus_get_sync") ||
        !has(found.g_dbus_connection_set_exit_on_close, "g_dbus_connection_set_exit_on_close") ||
        !has(found.g_dbus_connection_is_closed, "g_dbus_connection_is_closed") ||
        !has(found.secret_service_get_sync, "secret_service_get_sync") ||
        !has(found.secret_service_disconnect, "secret_service_disconnect") ||
        !has(found.secret_attributes_build, "secret_attributes_build") ||
        !has(found.secret_service_search_sync, "secret_service_search_sync") ||
        !has(found.secret_item_get_locked, "secret_item_get_locked") ||
        !has(found.secret_collection_for_alias_sync, "secret_collection_for_alias_sync") ||
        !has(found.secret_collection_get_locked, "secret_collection_get_locked") ||
        !has(found.secret_service_unlock_sync, "secret_service_unlock_sync") ||
        !has(found.secret_password_lookup_sync, "secret_password_lookup_sync") ||
        !has(found.secret_password_free, "secret_password_free") ||
        !has(found.secret_password_store_sync, "secret_password_store_sync") ||
        !has(found.secret_password_clear_sync, "secret_password_clear_sync"))
        return {};
    return found;
}

/// Returns libsecret; null: it is not installed.
const Libsecret* libsecret()
{
    static const std::optional<Libsecret> library = open_libsecret();
    return library ? &*library : nullptr;
}

/// Says whether the session has a bus. Where GLib finds none it would start one, which has no store either.
bool has_session_bus()
{
    if (const char* const address = std::getenv("DBUS_SESSION_BUS_ADDRESS"); address && *address)
        return true;
    const char* const folder = std::getenv("XDG_RUNTIME_DIR");
    std::error_code ignored;
    return folder && *folder && std::filesystem::exists(std::filesystem::path(folder) / "bus", ignored);
}

// ---- one call at a time, each on a thread of its own ----

std::mutex one_at_a_time;                // else two dialogs might ask the user at a time
std::atomic<bool> asks_the_user{false};  // the call that has the lock may ask the user

/// Holds the objects of one call. A caller that gives up waiting leaves it to the thread that works on it.
struct Call {
    const Libsecret& library;
    GObject* cancellable = library.g_cancellable_new();
    GObject* bus = nullptr;
    GObject* service = nullptr;
    GError* error = nullptr;

    explicit Call(const Libsecret& library_)
        : library(library_)
    {
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call()
    {
        if (error)
            library.g_error_free(error);
        for (GObject* const object : {service, bus, cancellable})
            if (object)
                library.g_object_unref(object);
    }

    /// Connects to the service. False: the session has no store that answers.
    bool connect()
    {
        bus = library.g_bus_get_sync(kSessionBus, cancellable, &error);
        if (!bus || library.g_dbus_connection_is_closed(bus))
            return false;
        library.g_dbus_connection_set_exit_on_close(bus, 0);  // else the program would end with the bus
        service = library.secret_service_get_sync(kNoFlags, cancellable, &error);
        return service != nullptr;
    }

    std::optional<Access> access()
    {
        GObject* const collection =
            library.secret_collection_for_alias_sync(service, kDefaultCollection, kNoFlags, cancellable, &error);
        if (!collection && error)
            return {};
        if (!collection)
            return Access::Locked;  // the user would be asked to make one
        const bool locked = library.secret_collection_get_locked(collection) != 0;
        library.g_object_unref(collection);
        return locked ? Access::Locked : Access::Open;
    }

    enum class Found {
        No,
        Hidden,  // not known: the store is locked and does not say what is in it
        Locked,
        Yes,
        Unknown,
    };
    std::optional<Found> search(const std::string& id)
    {
        GHashTable* const attributes = library.secret_attributes_build(&kSchema, "id", id.c_str(), nullptr);
        GList* const items =
            library.secret_service_search_sync(service, &kSchema, attributes, kNoFlags, cancellable, &error);
        library.g_hash_table_unref(attributes);
        Found found = Found::No;
        for (const GList* item = items; item; item = item->next) {
            found = library.secret_item_get_locked(item->data) != 0 ? Found::Locked : Found::Yes;
            library.g_object_unref(item->data);
        }
        library.g_list_free(items);
        if (error)
            return {};
        if (found != Found::No)
            return found;
        // GNOME Keyring does not tell what is in a keyring that has not been unlocked since it started.
        const std::optional<Access> now = access();
        if (!now)
            return {};
        return *now == Access::Locked ? Found::Hidden : Found::No;
    }

    /// Returns the text of a secret. Where the store is locked the user is asked to unlock it; so in store(). `hidden`:
    /// the search could not see into the locked store.
    std::optional<std::string> lookup(const std::string& id, bool hidden)
    {
        if (hidden && !unlock())
            return {};
        char* const text =
            library.secret_password_lookup_sync(&kSchema, cancellable, &error, "id", id.c_str(), nullptr);
        if (!text)
            return {};
        std::string secret = text;
        library.secret_password_free(text);
        return secret;
    }

    /// Asks the user to unlock the store. False: the user has closed the question; looking up the secret would open it
    /// again.
    bool unlock()
    {
        GObject* const collection =
            library.secret_collection_for_alias_sync(service, kDefaultCollection, kNoFlags, cancellable, nullptr);
        if (!collection)
            return false;
        GList one{collection, nullptr, nullptr};
        const bool open = library.secret_collection_get_locked(collection) == 0 ||
                          library.secret_service_unlock_sync(service, &one, cancellable, nullptr, nullptr) > 0;
        library.g_object_unref(collection);
        return open;
    }

    /// Gives the store a secret. False: the store refused it. Empty: the call was cancelled, and the store may still
    /// take it.
    std::optional<bool> store(const Secret& secret)
    {
        const bool stored =
            library.secret_password_store_sync(&kSchema, kDefaultCollection, secret.label.c_str(), secret.text.c_str(),
                                               cancellable, &error, "id", secret.id.c_str(), nullptr) != 0;
        return stored || library.g_cancellable_is_cancelled(cancellable) == 0 ? std::optional(stored) : std::nullopt;
    }

    std::optional<bool> clear(const std::string& id)
    {
        library.secret_password_clear_sync(&kSchema, cancellable, &error, "id", id.c_str(), nullptr);
        return error ? std::nullopt : std::optional(true);
    }
};

constexpr const char* kLocked = "the system's password store is locked";
constexpr const char* kGone = "the system's password store does not have it any more";
constexpr const char* kSilent = "the system's password store does not answer";

constexpr std::chrono::milliseconds patience_with(bool locked)
{
    return locked ? kUsersPatience : kServicesPatience;
}

/// Calls the service with a time limit, since it may hang, and a dialog may stay open.
class SecretService final : public SecretStore
{
public:
    Access access(const std::stop_token& stop) override
    try {
        return run<Access>([](Call& call) { return call.access(); }, kServicesPatience, stop).value_or(Access::None);
    } catch (...) {
        return Access::None;
    }

    engine::Result<std::string> find(const std::string& id, MayAsk may, const std::stop_token& stop) override
    try {
        const Call::Found found = look_for(id, stop);
        if (found == Call::Found::No)
            return engine::fail(Code::NotFound, kGone);
        const bool hidden = found == Call::Found::Hidden;
        const bool locked = found == Call::Found::Locked || hidden;
        std::optional<std::string> text;
        if (found == Call::Found::Yes || (locked && may == MayAsk::Yes))
            text = run<std::string>([id, hidden](Call& call) { return call.lookup(id, hidden); }, patience_with(locked),
                                    stop);
        if (!text && locked && look_for(id, stop) == Call::Found::No)
            return engine::fail(Code::NotFound, kGone);
        if (!text)
            return engine::fail(Code::CannotRead, locked ? kLocked : kSilent);
        return std::move(*text);
    } catch (...) {
        return engine::caught("for this secret");
    }

    engine::Status keep(const Secret& secret, MayAsk may, const std::stop_token& stop) override
    try {
        const Access now = access(stop);
        const bool locked = now == Access::Locked;
        if (now == Access::None || (locked && may == MayAsk::No))
            return engine::fail(Code::CannotWrite, locked ? kLocked : kSilent);
        const auto kept = run<bool>([secret](Call& call) { return call.store(secret); }, patience_with(locked), stop);
        if (!kept.value_or(false))
            return engine::fail(kept ? Code::CannotWrite : Code::Cancelled, locked ? kLocked : kSilent);
        return {};
    } catch (...) {
        return engine::caught("for this secret");
    }

    engine::Status forget(const std::string& id, const std::stop_token& stop) override
    try {
        const Call::Found found = look_for(id, stop);
        if (found == Call::Found::No)
            return {};
        const bool locked = found == Call::Found::Locked || found == Call::Found::Hidden;
        std::optional<bool> forgotten;
        if (found == Call::Found::Yes)
            forgotten = run<bool>([id](Call& call) { return call.clear(id); }, kServicesPatience, stop);
        if (!forgotten)
            return engine::fail(Code::CannotWrite, locked ? kLocked : kSilent);
        return {};
    } catch (...) {
        return engine::caught("for this secret");
    }

private:
    template <typename Answer>
    struct Running {
        explicit Running(const Libsecret& library)
            : call(library)
        {
        }
        Call call;
        std::mutex mutex;
        std::condition_variable_any changed;
        std::optional<Answer> answer;
        bool begun = false;
        bool done = false;
    };

    static Call::Found look_for(const std::string& id, const std::stop_token& stop)
    {
        return run<Call::Found>([id](Call& call) { return call.search(id); }, kServicesPatience, stop)
            .value_or(Call::Found::Unknown);
    }

    /// Does the work on a thread of its own and returns its answer. Empty: there is no store, it refused, or gave no
    /// answer in time. While another call asks the user, this one waits without a limit for its turn.
    template <typename Answer>
    static std::optional<Answer> run(std::function<std::optional<Answer>(Call&)> work,
                                     std::chrono::milliseconds patience, const std::stop_token& stop)
    {
        const Libsecret* const library = has_session_bus() ? libsecret() : nullptr;
        if (!library || stop.stop_requested())
            return {};
        const auto running = std::make_shared<Running<Answer>>(*library);
        std::thread([running, work = std::move(work), asks = patience > kServicesPatience] {
            const std::lock_guard turn(one_at_a_time);
            asks_the_user = asks;
            {
                const std::lock_guard lock(running->mutex);
                running->begun = true;
                running->changed.notify_all();
            }
            std::optional<Answer> answer;
            try {
                if (running->call.connect())
                    answer = work(running->call);
            } catch (...) {  // no memory: counts as no answer
            }
            running->call.library.secret_service_disconnect();  // or a restarted service would not be found
            asks_the_user = false;
            const std::lock_guard lock(running->mutex);
            running->answer = std::move(answer);
            running->done = true;
            running->changed.notify_all();
        }).detach();
        std::unique_lock lock(running->mutex);
        const auto begun = [&] { return running->begun; };
        const auto done = [&] { return running->done; };
        while (!running->changed.wait_for(lock, stop, kServicesPatience, begun) && asks_the_user &&
               !stop.stop_requested())
            ;
        if (!running->begun || !running->changed.wait_for(lock, stop, patience, done)) {
            if (running->begun)
                asks_the_user = false;  // this call may hang on: the next one waits for its turn no longer than usual
            library->g_cancellable_cancel(running->call.cancellable);
            running->changed.wait_for(lock, kGivingUp, done);
        }
        return std::move(running->answer);
    }
};

}  // namespace

std::shared_ptr<SecretStore> system_secret_store()
{
    return std::make_shared<SecretService>();
}

}  // namespace secrets
