// A peer made of libwebsockets, which looks at text as its minimal echo server has it do: ws_libwebsockets serve --port PORT,
// or ws_libwebsockets connect URL.
#include <libwebsockets.h>

#include <cstdlib>
#include <deque>
#include <string>
#include <utility>

// What is to be sent back, with the room in front of each message that the library asks for.
struct Message {
    std::string bytes = std::string(LWS_PRE, '\0');
    lws_write_protocol kind = LWS_WRITE_TEXT;
};

// One connection.
struct Session {
    Message incoming;
    std::deque<Message> outgoing;
};

bool isOver = false;

void receive(lws* socket, Session& session, char const* bytes, size_t count) {
    session.incoming.bytes.append(bytes, count);
    if (!lws_is_final_fragment(socket)) { return; }
    session.incoming.kind = lws_frame_is_binary(socket) ? LWS_WRITE_BINARY : LWS_WRITE_TEXT;
    session.outgoing.push_back(std::exchange(session.incoming, Message()));
    lws_callback_on_writable(socket);
}

int send(lws* socket, Session& session) {
    if (session.outgoing.empty()) { return 0; }
    Message& message = session.outgoing.front();
    size_t const count = message.bytes.size() - LWS_PRE;
    auto* bytes = reinterpret_cast<unsigned char*>(&message.bytes[LWS_PRE]);
    if (lws_write(socket, bytes, count, message.kind) < static_cast<int>(count)) { return -1; }
    session.outgoing.pop_front();
    if (!session.outgoing.empty()) { lws_callback_on_writable(socket); }
    return 0;
}

int handle(lws* socket, lws_callback_reasons reason, void* user, void* bytes, size_t count) {
    auto** session = static_cast<Session**>(user);
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
    case LWS_CALLBACK_CLIENT_ESTABLISHED: *session = new Session; break;
    case LWS_CALLBACK_RECEIVE:
    case LWS_CALLBACK_CLIENT_RECEIVE: receive(socket, **session, static_cast<char const*>(bytes), count); break;
    case LWS_CALLBACK_SERVER_WRITEABLE:
    case LWS_CALLBACK_CLIENT_WRITEABLE: return send(socket, **session);
    case LWS_CALLBACK_CLOSED: delete *session; break;
    case LWS_CALLBACK_CLIENT_CLOSED: delete *session; isOver = true; break;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR: isOver = true; break;
    default: break;
    }
    return 0;
}

lws_protocols const protocols[] = {{"echo", handle, sizeof(Session*), 1024, 0, nullptr, 0}, {}};

// A URL like ws://127.0.0.1:9001/path.
bool connect(lws_context* context, std::string url) {
    char const *scheme = nullptr, *address = nullptr, *path = nullptr;
    int port = 0;
    if (lws_parse_uri(&url[0], &scheme, &address, &port, &path)) { return false; }
    std::string const host = address + (":" + std::to_string(port));
    // Nothing but a slash where there is no path, and else without the first one.
    std::string const target = path[0] == '/' ? path : std::string("/") + path;
    lws_client_connect_info info{};
    info.context = context;
    info.address = address;
    info.port = port;
    info.path = target.c_str();
    info.host = info.origin = host.c_str();
    return lws_client_connect_via_info(&info) != nullptr;
}

int main(int count, char** words) {
    if (count < 3) { return EXIT_FAILURE; }
    bool const isServer = words[1] == std::string("serve");
    lws_set_log_level(0, nullptr);
    lws_context_creation_info info{};
    info.port = isServer && count > 3 ? std::atoi(words[3]) : CONTEXT_PORT_NO_LISTEN;
    info.iface = isServer ? "127.0.0.1" : nullptr;
    info.protocols = protocols;
    info.options = LWS_SERVER_OPTION_VALIDATE_UTF8;
    lws_context* context = lws_create_context(&info);
    if (context == nullptr || (!isServer && !connect(context, words[2]))) { return EXIT_FAILURE; }
    while (!isOver && lws_service(context, 0) >= 0) {}
    lws_context_destroy(context);
    return EXIT_SUCCESS;
}
