import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages that may be of somebody whose own is not in the capture, or not readable there.
  static let unseenPublishers: [SharedCase] = mayBeOfOthers + older

  /// A client is sent what it published itself, though its filter is No Local; what else the capture has may explain it.
  private static let mayBeOfOthers: [SharedCase] = [
    noLocal("a connection of MQTT 3.1 says nothing") {
      $0.on(2) { $0.speak31(saying: false) }
    },
    noLocal("a connection of MQTT 3.1 publishes", isOpen: true) {
      $0.on(2) { $0.speak31(saying: true) }
    },
    noLocal("bytes of a client at another address are missing", isOpen: true) {
      $0.on(2) {
        $0.open(server: "10.0.0.2:1884")
        $0.client(.connect(.init(clientID: "p", keepAlive: 0)))
        $0.gap(.client)
      }
    },
    noLocal("bytes of a server at another address are missing") {
      $0.on(2) {
        $0.open(server: "10.0.0.2:1884")
        $0.client(.connect(.init(clientID: "p", keepAlive: 0)))
        $0.gap(.server)
      }
    },
    noLocal("a bridge is connected elsewhere", isOpen: true) {
      $0.on(2) {
        $0.open(server: "10.0.0.3:1883")
        $0.client(.connect(.init(clientID: "b", keepAlive: 0, isBridge: true)))
        $0.server(.connack(.init()))
      }
    },
    noLocal("a client at another address has it as its will", isOpen: true) {
      $0.on(2) {
        $0.open(server: "10.0.0.2:1884")
        let will = MQTTPacket.Will(topic: "a", payload: Array("1".utf8), qos: 0, retain: false)
        $0.client(.connect(.init(clientID: "w", keepAlive: 0, will: will)))
        $0.server(.connack(.init()))
      }
    },
    noLocal("a client at another address has another will") {
      $0.on(2) {
        $0.open(server: "10.0.0.2:1884")
        let will = MQTTPacket.Will(topic: "a", payload: Array("2".utf8), qos: 0, retain: false)
        $0.client(.connect(.init(clientID: "w", keepAlive: 0, will: will)))
        $0.server(.connack(.init()))
      }
    },
    noLocal("clients publish at seven other addresses") { $0.publish(atAddresses: 7) },
    noLocal("clients publish at eight other addresses", isOpen: true) {
      $0.publish(atAddresses: 8)
    },
    noLocal(
      "a client publishes it at another address, and is told late", isOpen: true, behind: true
    ) {
      $0.on(2) {
        $0.open(isFromStart: false, server: "10.0.0.2:1884")
        $0.say(.client, "a", "1")
      }
    },
    noLocal("a client publishes something else at another address, and is told late", behind: true)
    {
      $0.on(2) {
        $0.open(isFromStart: false, server: "10.0.0.2:1884")
        $0.say(.client, "a", "2")
      }
    },
    noLocal("a client publishes of which nobody knows the version", isOpen: true) {
      $0.on(2) {
        $0.wire = .mqttUndetermined
        $0.open(isFromStart: false)
        $0.client(hex: "30 05 0001 61 00 31")
        $0.wire = .mqtt(.v5_0)
      }
    },
    noLocal("a connection to another port of TLS can't be read", isOpen: true) {
      $0.on(2) { $0.encrypt(to: "10.0.0.2:8883") }
    },
    noLocal("a connection to the port of the Web can't be read") {
      $0.on(2) { $0.encrypt(to: "10.0.0.2:443") }
    },
  ]

  private static func noLocal(
    _ name: String, isOpen: Bool = false, behind isBehind: Bool = false,
    _ others: @escaping @Sendable (inout Script) -> Void
  ) -> SharedCase {
    SharedCase(
      "a client's own message though its filter is No Local, where \(name)", in: [.v5_0],
      failed: isOpen ? [] : [.noLocalIsKept], [:]
    ) {
      if !isBehind { others(&$0) }
      $0.join("s")
      $0.ask(1, "a", options: 0b100)
      for text in ["1", "3"] {
        for peer in Peer.allCases {
          $0.say(peer, "a", text, [.init(.userProperty, .pair("k", "v"))])
        }
      }
      if isBehind { others(&$0) }
      $0.answerPing()
      $0.finish()
    }
  }

  /// A message that was published in the capture comes without its properties.
  private static let older: [SharedCase] = [
    forwarded("to a session of which nothing was seen before", isOpen: true) {
      $0.open()
      $0.client(.connect(.init(clientID: "s", cleanStart: false, keepAlive: 0)))
      $0.server(.connack(.init(sessionPresent: true)))
    },
    forwarded("to a session that is new") {
      $0.open()
      $0.client(.connect(.init(clientID: "s", cleanStart: false, keepAlive: 0)))
      $0.server(.connack(.init()))
      $0.ask(1, "a")
    },
    forwarded("to a connection that began before the capture", isOpen: true) {
      $0.open(isFromStart: false)
    },
  ]

  private static func forwarded(
    _ name: String, isOpen: Bool = false, _ begin: @escaping @Sendable (inout Script) -> Void
  ) -> SharedCase {
    SharedCase(
      "a message with another Content Type, \(name)", in: [.v5_0],
      failed: isOpen ? [] : [.contentTypeIsForwarded], [:]
    ) {
      begin(&$0)
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "a text of 16 bytes", [MQTTProperty(.contentType, .string("text"))])
      }
      $0.say(.server, "a", "a text of 16 bytes", [MQTTProperty(.contentType, .string("json"))])
      $0.answerPing()
      $0.finish()
      $0.on(2) { $0.finish() }
    }
  }
}

extension Script {
  /// A client of MQTT 3.1 publishes to the server, or only comes and goes.
  fileprivate mutating func speak31(saying isSaying: Bool) {
    let before = wire
    wire = .mqtt(.v3_1)
    open()
    client(hex: "10 10 0006 4D51 4973 6470 03 02 0000 0002 6331")
    server(hex: "20 02 00 00")
    if isSaying { client(hex: "30 04 0001 61 31") }
    client(hex: "E0 00")
    close(.client)
    wire = before
  }

  /// A connection whose content can't be read.
  fileprivate mutating func encrypt(to server: String) {
    let before = wire
    wire = .tls
    open(server: server)
    var hellos = TLSHellos(
      client: "10.0.0.1:50001", server: server, version: "TLS 1.3",
      cipherSuite: "TLS_AES_128_GCM_SHA256", serverName: nil)
    hellos.obstacle = "is not decrypted"
    add(.client, .tls(.handshake(hellos)))
    close(.client)
    wire = before
  }

  /// Clients publish something else at as many other addresses.
  fileprivate mutating func publish(atAddresses count: Int) {
    for number in 1...count {
      on(100 + number) {
        $0.open(server: "10.0.1.\(number):1883")
        $0.client(.connect(.init(clientID: "o\(number)", keepAlive: 0)))
        $0.server(.connack(.init()))
        $0.say(.client, "o", "\(number)")
        $0.finish()
      }
    }
  }
}
