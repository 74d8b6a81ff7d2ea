import ConformanceKit
import RepriseCore
import Wire

extension SessionCase {
  /// Opening handshakes of clients: sections 3, 4.1 and 11.3 of RFC 6455.
  static let requests: [SessionCase] = requestHeads + requestKeys + targets + patience + serverNames

  private static let serverNames: [SessionCase] = [
    .fails("RFC6455-4.1-5", "no name", saying: "names no server") {
      $0.askThroughTLS(of: "example.com:8443", naming: nil)
    },
    .isOpen("RFC6455-4.1-5", "no name of one that a proxy stands for", saying: "a proxy") {
      $0.askThroughTLS(of: "example.com", naming: nil) { $0.add("X-Forwarded-For", "192.0.2.7") }
    },
    .fails("RFC6455-4.1-5", "no name, and the origin of a page", saying: "names no server") {
      $0.askThroughTLS(of: "example.com:8443", naming: nil) {
        $0.add("Origin", "https://example.com")
      }
    },
    .passes("RFC6455-4.1-5", "a name") {
      $0.askThroughTLS(of: "example.com", naming: "example.com")
    },
    .passes("RFC6455-4.1-5", "another name, which may be that of a proxy") {
      $0.askThroughTLS(of: "example.com", naming: "edge.example.net")
    },
    .passes("RFC6455-4.1-5", "a name that can't be shown") {
      $0.askThroughTLS(of: "example.com", naming: "")
    },
    .isIdle("RFC6455-4.1-5", "an address") { $0.askThroughTLS(of: "192.0.2.2:443", naming: nil) },
    .isIdle("RFC6455-4.1-5", "an address of IPv6") {
      $0.askThroughTLS(of: "[2001:db8::1]", naming: nil)
    },
    .isIdle("RFC6455-4.1-5", "an address of a later version than IPv6") {
      $0.askThroughTLS(of: "[v7.fe80]", naming: nil)
    },
    .isIdle("RFC6455-4.1-5", "a local name") { $0.askThroughTLS(of: "broker", naming: nil) },
    .isIdle("RFC6455-4.1-5", "no TLS") { $0.ask { $0.set("Host", "example.com") } },
  ]

  /// A violation by a request, and the usual one as what keeps the clause.
  private static func request(
    _ clause: String, _ name: String, _ change: @escaping @Sendable (inout Head) -> Void
  ) -> [SessionCase] {
    [
      .fails("RFC6455-" + clause, name, saying: "the client sent a bad request") {
        $0.ask(change)
        $0.close(.server)
      },
      .passes("RFC6455-" + clause, "the usual request, not \(name)") { $0.upgrade() },
    ]
  }

  private static let badRequests: [[SessionCase]] = [
    request("3-1", "a fragment") { $0.line = "GET /chat#room HTTP/1.1" },
    request("4.1-6", "a line without a colon") { $0.add("X y", "z") },
    request("4.1-6", "Host twice") { $0.add("Host", "b") },
    request("4.1-7", "HTTP/1.0") { $0.line = "GET /chat HTTP/1.0" },
    request("4.1-7", "POST") { $0.line = "POST /chat HTTP/1.1" },
    request("4.1-9", "no Host") { $0.remove("Host") },
    request("4.1-9", "a Host with a path") { $0.set("Host", "a/b") },
    request("4.1-9", "a Host with a bad port") { $0.set("Host", "a:http") },
    request("4.1-10", "no Upgrade") { $0.remove("Upgrade") },
    request("4.1-11", "no Connection") { $0.remove("Connection") },
    request("4.1-11", "keep-alive alone") { $0.set("Connection", "keep-alive") },
    request("4.1-12", "no key") { $0.remove("Sec-WebSocket-Key") },
    request("4.1-12", "a key of 8 bytes") { $0.set("Sec-WebSocket-Key", "AAAAAAAAAAA=") },
    request("4.1-15", "version 8") { $0.set("Sec-WebSocket-Version", "8") },
    request("4.1-15", "version 12") { $0.set("Sec-WebSocket-Version", "12") },
    request("4.1-15", "version 013") { $0.set("Sec-WebSocket-Version", "013") },
    request("4.1-15", "version 025") { $0.set("Sec-WebSocket-Version", "025") },
    request("4.1-15", "version 256") { $0.set("Sec-WebSocket-Version", "256") },
    request("4.1-15", "two versions in one") { $0.set("Sec-WebSocket-Version", "25, 13") },
    request("4.1-15", "no version") { $0.remove("Sec-WebSocket-Version") },
    request("11.3.1-1", "two keys") { $0.add("Sec-WebSocket-Key", Head.key) },
    request("11.3.5-1", "two versions") { $0.add("Sec-WebSocket-Version", "13") },
  ]

  private static let requestHeads: [SessionCase] =
    Array(badRequests.joined())
    + [
      .isOpen("RFC6455-4.1-15", "a version to come, as in section 4.4", saying: "a later version") {
        $0.ask { $0.set("Sec-WebSocket-Version", "25") }
        $0.close(.server)
      },
      .passes("RFC6455-4.1-9", "an address and a port") { $0.ask { $0.set("Host", "[::1]:80") } },
      .passes("RFC6455-4.1-11", "among others") {
        $0.ask { $0.set("Connection", "keep-alive, upgrade") }
      },
      .fails("RFC6455-4.1-16", "mqtt twice") {
        $0.ask { $0.add("Sec-WebSocket-Protocol", "mqtt, mqtt") }
      },
      .passes("RFC6455-4.1-16", "nothing between commas") {
        $0.ask { $0.add("Sec-WebSocket-Protocol", "mqtt, , soap,") }
      },
      .fails("RFC6455-4.1-16", "nothing but commas") {
        $0.ask { $0.add("Sec-WebSocket-Protocol", ",,") }
      },
      .fails("RFC6455-4.1-16", "mqtt twice, and nothing between them") {
        $0.ask { $0.add("Sec-WebSocket-Protocol", "mqtt,,mqtt") }
      },
      .passes("RFC6455-4.1-16", "two") { $0.ask { $0.add("Sec-WebSocket-Protocol", "a, b") } },
      .isIdle("RFC6455-4.1-16", "none") { $0.ask() },
      .isOpen("RFC6455-3-1", "no first line", saying: "the first line") {
        $0.ask { $0.line = "GET /a#b" }
      },
      .isOpen("RFC6455-4.1-7", "no first line", saying: "the first line") {
        $0.ask { $0.line = "PUT" }
      },
      .isOpen("RFC6455-4.1-7", "the end of a method", saying: "the start of the connection") {
        $0.ask(isFromStart: false) { $0.line = "ET /chat HTTP/1.1" }
      },
      .passes("RFC6455-4.1-7", "the end of a method behind a gap") {
        $0.ask()
        $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
        $0.gap(.client)
        $0.ask { $0.line = "ET /chat HTTP/1.1" }
      },
      .fails("RFC6455-4.1-7", "such a method in the next request") {
        $0.ask(isFromStart: false)
        $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
        $0.ask { $0.line = "ET /chat HTTP/1.1" }
      },
      .fails("RFC6455-4.1-7", "an old version behind the end of a method") {
        $0.ask(isFromStart: false) { $0.line = "GET /chat HTTP/1.0" }
      },
      .isIdle("RFC6455-4.2.1-1", "the end of a method") {
        $0.ask(isFromStart: false) { $0.line = "ET /chat HTTP/1.1" }
        $0.answer()
      },
      .passes("RFC6455-4.1-9", "all that a name may have") {
        $0.ask { $0.set("Host", "a!$&'()*+,;=b") }
      },
    ]

  private static let targets: [SessionCase] = [
    .fails("RFC6455-4.1-8", "another host", saying: "a bad request") {
      $0.ask { $0.line = "GET http://b/chat HTTP/1.1" }
    },
    .fails("RFC6455-4.1-8", "an address of its own") {
      $0.ask { $0.line = "GET ws://a/chat HTTP/1.1" }
    },
    .fails("RFC6455-4.1-8", "a star") { $0.ask { $0.line = "GET * HTTP/1.1" } },
    .fails("RFC6455-4.1-8", "a byte that can't be printed", saying: "a bad request") {
      $0.ask { $0.line = "GET /ch\u{7F}at HTTP/1.1" }
    },
    .fails("RFC6455-4.1-8", "a letter that is no ASCII", saying: "a bad request") {
      $0.ask { $0.line = "GET /ch\u{E4}t HTTP/1.1" }
    },
    .passes("RFC6455-4.1-8", "a tilde, which is the last byte that can be printed") {
      $0.ask { $0.line = "GET /~chat HTTP/1.1" }
    },
    .passes("RFC6455-4.1-8", "a path with a query") {
      $0.ask { $0.line = "GET /chat?x=1 HTTP/1.1" }
    },
    .passes("RFC6455-4.1-8", "an address on the host, with the port that is meant anyway") {
      $0.ask { $0.line = "GET http://A:80/chat HTTP/1.1" }
    },
    .isOpen("RFC6455-4.1-8", "the same address in another form", saying: "the same host") {
      $0.ask {
        $0.line = "GET http://[0:0::1]/chat HTTP/1.1"
        $0.set("Host", "[::1]")
      }
    },
    .isOpen("RFC6455-4.1-8", "the same name with an escape", saying: "the same host") {
      $0.ask { $0.line = "GET http://%61/chat HTTP/1.1" }
    },
    .isOpen("RFC6455-4.1-8", "an address of numbers", saying: "the same host") {
      $0.ask {
        $0.line = "GET http://0x7f.1/chat HTTP/1.1"
        $0.set("Host", "127.0.0.1")
      }
    },
    .fails("RFC6455-4.1-8", "another address of IPv6") {
      $0.ask {
        $0.line = "GET http://[0:0::2]/chat HTTP/1.1"
        $0.set("Host", "[::1]")
      }
    },
    .fails("RFC6455-4.1-8", "another address") {
      $0.ask {
        $0.line = "GET http://127.0.0.2/chat HTTP/1.1"
        $0.set("Host", "127.0.0.1")
      }
    },
    .fails("RFC6455-4.1-8", "the same address with another port") {
      $0.ask {
        $0.line = "GET http://[0:0::1]:81/chat HTTP/1.1"
        $0.set("Host", "[::1]")
      }
    },
    .isOpen("RFC6455-4.1-8", "no first line", saying: "the first line") {
      $0.ask { $0.line = "" }
    },
  ]

  private static let requestKeys: [SessionCase] = [
    .fails("RFC6455-4.1-13", "used again", saying: "the key of connection 1") {
      $0.upgrade()
      $0.finishWebSocket()
      $0.connection = 2
      $0.upgrade()
      $0.finishWebSocket()
    },
    .passes("RFC6455-4.1-13", "another one for another connection") {
      $0.upgrade()
      $0.finishWebSocket()
      $0.connection = 2
      $0.ask { $0.set("Sec-WebSocket-Key", "AQIDBAUGBwgJCgsMDQ4PEC==") }
    },
    .isOpen("RFC6455-4.1-13", "on both sides of a proxy", saying: "forwarded by a proxy") {
      $0.ask()
      $0.connection = 2
      $0.upgrade()
      $0.connection = 1
      $0.answer()
    },
    .isOpen("RFC6455-4.1-13", "recorded twice", saying: "holds twice") {
      $0.upgrade()
      $0.finishWebSocket()
      $0.wait(60)
      $0.connection = 2
      $0.ask(from: "10.0.0.1:50000")
      $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
      $0.ask { $0.add("Authorization", "Basic") }
    },
    .fails("RFC6455-4.1-13", "used again between the same ports", saying: "of connection 1") {
      $0.upgrade()
      $0.finishWebSocket()
      $0.wait(60)
      $0.connection = 2
      $0.ask(from: "10.0.0.1:50000") { $0.line = "GET /other HTTP/1.1" }
    },
    .isOpen("RFC6455-4.1-13", "no answer to the first", saying: "forwarded by a proxy") {
      $0.ask()
      $0.close(.client)
      $0.wait(60)
      $0.connection = 2
      $0.upgrade()
    },
    .isOpen("RFC6455-4.1-13", "soon from another host", saying: "forwarded by a proxy") {
      $0.upgrade()
      $0.connection = 2
      $0.ask(from: "10.0.0.9:40000") { $0.add("Via", "1.1 p") }
    },
    .isOpen("RFC6455-4.1-13", "later from another host", saying: "holds twice") {
      $0.upgrade()
      $0.wait(1)
      $0.connection = 2
      $0.ask(from: "10.0.0.9:40000")
    },
    .fails(
      "RFC6455-4.1-13", "later from another host for something else", saying: "of connection 1"
    ) {
      $0.upgrade()
      $0.wait(1)
      $0.connection = 2
      $0.ask(from: "10.0.0.9:40000") { $0.line = "GET /other HTTP/1.1" }
    },
    .isOpen("RFC6455-4.1-13", "told behind the answer", saying: "forwarded by a proxy") {
      $0.upgrade()
      $0.goBack(3)
      $0.connection = 2
      $0.ask()
    },
    .isOpen(
      "RFC6455-4.1-13", "asked again on both sides of a proxy", saying: "forwarded by a proxy"
    ) {
      $0.ask()
      $0.connection = 2
      $0.ask()
      $0.answer { $0.line = "HTTP/1.1 302 Found" }
      $0.connection = 1
      $0.answer { $0.line = "HTTP/1.1 302 Found" }
      $0.ask { $0.line = "GET /there HTTP/1.1" }
      $0.connection = 2
      $0.ask { $0.line = "GET /there HTTP/1.1" }
      $0.answer()
      $0.connection = 1
      $0.answer()
    },
    .isOpen(
      "RFC6455-4.1-13", "forwarded behind a refusal of the proxy", saying: "forwarded by a proxy"
    ) {
      $0.ask()
      $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
      $0.ask { $0.add("Authorization", "Basic") }
      $0.connection = 2
      $0.upgrade()
      $0.connection = 1
      $0.answer()
    },
    .isOpen("RFC6455-4.1-13", "used again behind a refusal and an end", saying: "a proxy") {
      $0.ask()
      $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
      $0.close(.client)
      $0.connection = 2
      $0.upgrade()
    },
    .fails("RFC6455-4.1-13", "used again behind a refusal and an answer", saying: "of connection 1")
    {
      $0.ask()
      $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
      $0.upgrade()
      $0.finishWebSocket()
      $0.connection = 2
      $0.upgrade()
    },
    .isIdle("RFC6455-4.1-13", "asked again behind a refusal") {
      $0.ask()
      $0.answer { $0.line = "HTTP/1.1 401 Unauthorized" }
      $0.upgrade()
      $0.finishWebSocket()
    },
  ]

  private static let patience: [SessionCase] = ["RFC6455-4.1-17", "RFC6455-6.1-1"].flatMap {
    (clause: String) -> [SessionCase] in
    [
      .fails(clause, "text before the answer", saying: "before the answer to its request came") {
        $0.upgrade()
        // The reader hands on what came early behind the answer, with its own time.
        $0.frame(.client, .text, [0x61], early: 1_500_000, sentEarly: true)
        $0.finishWebSocket()
      },
      .passes(clause, "text captured before the answer that it acknowledges") {
        $0.upgrade()
        $0.frame(.client, .text, [0x61], early: 1_500_000)
        $0.finishWebSocket()
      },
      .passes(clause, "text behind the answer") {
        $0.upgrade()
        $0.text(.client)
        $0.finishWebSocket()
      },
      .isOpen(clause, "no answer in the capture", saying: "the answer to the opening handshake") {
        $0.ask()
        $0.text(.client)
        $0.endCapture()
      },
    ]
  }
}
