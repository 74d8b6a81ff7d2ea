// A peer made of Boost.Beast, as its synchronous examples use it: ws_beast serve --port PORT, or ws_beast connect URL.
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

namespace beast = boost::beast;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using WebSocket = beast::websocket::stream<tcp::socket>;

// Sends back what comes, until the library says that the connection is over.
void echo(WebSocket& websocket) {
    for (;;) {
        beast::flat_buffer buffer;
        websocket.read(buffer);
        websocket.text(websocket.got_text());
        websocket.write(buffer.data());
    }
}

void answer(tcp::socket socket) {
    try {
        WebSocket websocket{std::move(socket)};
        websocket.accept();
        echo(websocket);
    } catch (beast::system_error const&) {
    }
}

void serve(unsigned short port) {
    net::io_context context{1};
    tcp::acceptor acceptor{context, {net::ip::make_address("127.0.0.1"), port}};
    for (;;) {
        tcp::socket socket{context};
        acceptor.accept(socket);
        std::thread{[socket = std::move(socket)]() mutable { answer(std::move(socket)); }}.detach();
    }
}

// A URL like ws://127.0.0.1:9001/path.
void connect(std::string const& url) {
    auto const host = url.find("//") + 2;
    auto const path = url.find('/', host);
    auto const colon = url.rfind(':', path);
    std::string const address = url.substr(host, path - host);
    net::io_context context;
    tcp::resolver resolver{context};
    WebSocket websocket{context};
    net::connect(websocket.next_layer(), resolver.resolve(url.substr(host, colon - host), url.substr(colon + 1, path - colon - 1)));
    websocket.handshake(address, path == std::string::npos ? "/" : url.substr(path));
    echo(websocket);
}

int main(int count, char** words) {
    try {
        if (count > 3 && words[1] == std::string("serve")) {
            serve(static_cast<unsigned short>(std::atoi(words[3])));
        } else if (count > 2) {
            connect(words[2]);
        }
    } catch (beast::system_error const&) {
    }
    return EXIT_SUCCESS;
}
