// A peer made of websocketpp: ws_websocketpp serve --port PORT, or ws_websocketpp connect URL.
#include <websocketpp/client.hpp>
#include <websocketpp/config/asio_no_tls.hpp>
#include <websocketpp/config/asio_no_tls_client.hpp>
#include <websocketpp/server.hpp>

#include <cstdlib>
#include <string>

using Server = websocketpp::server<websocketpp::config::asio>;
using Client = websocketpp::client<websocketpp::config::asio_client>;

template <typename Endpoint> void echo(Endpoint& endpoint) {
    endpoint.clear_access_channels(websocketpp::log::alevel::all);
    endpoint.clear_error_channels(websocketpp::log::elevel::all);
    endpoint.init_asio();
    endpoint.set_message_handler([&endpoint](websocketpp::connection_hdl handle, typename Endpoint::message_ptr message) {
        websocketpp::lib::error_code error;
        endpoint.send(handle, message->get_payload(), message->get_opcode(), error);
    });
}

int main(int count, char** words) {
    if (count > 3 && words[1] == std::string("serve")) {
        Server server;
        echo(server);
        server.set_reuse_addr(true);
        server.listen("127.0.0.1", words[3]);
        server.start_accept();
        server.run();
    } else if (count > 2) {
        Client client;
        echo(client);
        websocketpp::lib::error_code error;
        client.connect(client.get_connection(words[2], error));
        client.run();
    }
    return EXIT_SUCCESS;
}
