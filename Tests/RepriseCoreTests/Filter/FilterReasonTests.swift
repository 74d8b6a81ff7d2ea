import RepriseCore
import Testing
import Wire

/// Return and reason codes by their names.
@Suite struct FilterReasonTests {
  /// A code in a packet of a version.
  struct Code: Hashable, Sendable {
    var code: UInt8
    var type: MQTTPacketType
    var version = MQTTVersion.v5_0
  }

  /// A row of one of the standards' tables.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var code: UInt8
    var types: [MQTTPacketType]
    var version = MQTTVersion.v5_0

    init(_ name: String, _ code: UInt8, _ types: [MQTTPacketType], _ version: MQTTVersion = .v5_0) {
      self.name = name
      self.code = code
      self.types = types
      self.version = version
    }

    var codes: [Code] { types.map { Code(code: code, type: $0, version: version) } }
    var testDescription: String { "\(name) \(code)" }
  }

  /// MQTT 5.0, table 2-6, in its order and words.
  private static let table5: [Row] = [
    Row("Success", 0x00, [.connack, .puback, .pubrec, .pubrel, .pubcomp, .unsuback, .auth]),
    Row("Normal disconnection", 0x00, [.disconnect]), Row("Granted QoS 0", 0x00, [.suback]),
    Row("Granted QoS 1", 0x01, [.suback]), Row("Granted QoS 2", 0x02, [.suback]),
    Row("Disconnect with Will Message", 0x04, [.disconnect]),
    Row("No matching subscribers", 0x10, [.puback, .pubrec]),
    Row("No subscription existed", 0x11, [.unsuback]),
    Row("Continue authentication", 0x18, [.auth]), Row("Re-authenticate", 0x19, [.auth]),
    Row("Unspecified error", 0x80, [.connack, .puback, .pubrec, .suback, .unsuback, .disconnect]),
    Row("Malformed Packet", 0x81, [.connack, .disconnect]),
    Row("Protocol Error", 0x82, [.connack, .disconnect]),
    Row(
      "Implementation specific error", 0x83,
      [.connack, .puback, .pubrec, .suback, .unsuback, .disconnect]),
    Row("Unsupported Protocol Version", 0x84, [.connack]),
    Row("Client Identifier not valid", 0x85, [.connack]),
    Row("Bad User Name or Password", 0x86, [.connack]),
    Row("Not authorized", 0x87, [.connack, .puback, .pubrec, .suback, .unsuback, .disconnect]),
    Row("Server unavailable", 0x88, [.connack]), Row("Server busy", 0x89, [.connack, .disconnect]),
    Row("Banned", 0x8A, [.connack]), Row("Server shutting down", 0x8B, [.disconnect]),
    Row("Bad authentication method", 0x8C, [.connack, .disconnect]),
    Row("Keep Alive timeout", 0x8D, [.disconnect]), Row("Session taken over", 0x8E, [.disconnect]),
    Row("Topic Filter invalid", 0x8F, [.suback, .unsuback, .disconnect]),
    Row("Topic Name invalid", 0x90, [.connack, .puback, .pubrec, .disconnect]),
    Row("Packet Identifier in use", 0x91, [.puback, .pubrec, .suback, .unsuback]),
    Row("Packet Identifier not found", 0x92, [.pubrel, .pubcomp]),
    Row("Receive Maximum exceeded", 0x93, [.disconnect]),
    Row("Topic Alias invalid", 0x94, [.disconnect]),
    Row("Packet too large", 0x95, [.connack, .disconnect]),
    Row("Message rate too high", 0x96, [.disconnect]),
    Row("Quota exceeded", 0x97, [.connack, .puback, .pubrec, .suback, .disconnect]),
    Row("Administrative action", 0x98, [.disconnect]),
    Row("Payload format invalid", 0x99, [.connack, .puback, .pubrec, .disconnect]),
    Row("Retain not supported", 0x9A, [.connack, .disconnect]),
    Row("QoS not supported", 0x9B, [.connack, .disconnect]),
    Row("Use another server", 0x9C, [.connack, .disconnect]),
    Row("Server moved", 0x9D, [.connack, .disconnect]),
    Row("Shared Subscriptions not supported", 0x9E, [.suback, .disconnect]),
    Row("Connection rate exceeded", 0x9F, [.connack, .disconnect]),
    Row("Maximum connect time", 0xA0, [.disconnect]),
    Row("Subscription Identifiers not supported", 0xA1, [.suback, .disconnect]),
    Row("Wildcard Subscriptions not supported", 0xA2, [.suback, .disconnect]),
  ]

  /// MQTT 3.1.1, table 3.1, without "Connection Refused" in front of all but the first.
  private static let table3: [Row] = [
    Row("Connection Accepted", 0, [.connack], .v3_1_1),
    Row("unacceptable protocol version", 1, [.connack], .v3_1_1),
    Row("identifier rejected", 2, [.connack], .v3_1_1),
    Row("Server unavailable", 3, [.connack], .v3_1_1),
    Row("bad user name or password", 4, [.connack], .v3_1_1),
    Row("not authorized", 5, [.connack], .v3_1_1),
  ]

  /// The QoS that a SUBACK of 3.1.1 grants, and its refusal, by their names in 5.0 (section 3.9.3 of both).
  private static let suback3: [Row] = [
    Row("Granted QoS 0", 0, [.suback], .v3_1_1), Row("Granted QoS 1", 1, [.suback], .v3_1_1),
    Row("Granted QoS 2", 2, [.suback], .v3_1_1), Row("Unspecified error", 0x80, [.suback], .v3_1_1),
  ]

  private static let rows = table5 + table3 + suback3

  /// Codes without a name.
  private static let nameless = [
    Code(code: 0xF0, type: .connack), Code(code: 3, type: .suback), Code(code: 1, type: .puback),
    Code(code: 6, type: .connack, version: .v3_1_1), Code(code: 4, type: .auth),
    Code(code: 0x10, type: .disconnect), Code(code: 0x11, type: .suback),
    Code(code: 0x18, type: .disconnect),
  ]

  private static let every: [Code] = rows.flatMap(\.codes) + nameless

  private static func written(_ name: String) -> String {
    name.lowercased().replacing(" ", with: "-")
  }

  /// The names as an expression has them, each once.
  private static let names: [String] = Array(Set(rows.map { written($0.name) })).sorted()

  private static func event(_ code: Code) throws -> Event {
    let content: MQTTPacket.Content =
      switch code.type {
      case .connack: .connack(.init(code: code.code))
      case .suback: .suback(packetID: 7, codes: [code.code], [])
      case .unsuback: .unsuback(packetID: 7, codes: [code.code], [])
      case .disconnect: .disconnect(.init(code.code))
      case .auth: .auth(.init(code.code))
      default: .acknowledgement(code.type, packetID: 7, .init(code.code))
      }
    return try Sample.event(MQTTPacket(content, version: code.version), sender: .server)
  }

  /// Those of all codes of the standards, and of some that they don't have, which an expression chooses.
  private static func chosen(_ expression: String) throws -> Set<Code> {
    var filter = try SessionFilter(expression)
    return Set(try every.filter { code in try event(code).withView { filter.matches($0) } })
  }

  /// What is known of a name: the codes that have it in the tables, those of a CONNACK by the name of either version.
  private static func expected(_ name: String) -> Set<Code> {
    let accepted = ["success", "connection-accepted", "accepted"]
    let other = accepted.contains(name) ? accepted : [name]
    return Set(
      rows.filter { other.contains(written($0.name)) }.flatMap(\.codes).filter {
        name == "success" || !accepted.contains(name) || $0.type == .connack
      })
  }

  @Test(arguments: names + ["accepted"])
  func choosesTheCodesOfAName(name: String) throws {
    let expected = Self.expected(name)
    #expect(!expected.isEmpty)
    #expect(try Self.chosen("code == \(name)") == expected)
    #expect(try Self.chosen("code != \(name)") == Set(Self.every).subtracting(expected))
    #expect(try Self.chosen("code in [99, \(name)]") == expected)
  }

  /// The words of a table are taken as they stand there.
  @Test(arguments: rows)
  func takesTheWordsOfTheStandard(row: Row) throws {
    #expect(try Self.chosen("code == '\(row.name)'") == Self.expected(Self.written(row.name)))
    #expect(try Self.chosen("code == '\(row.name)'").isSuperset(of: row.codes))
  }

  /// The help lists the names, and no others.
  @Test func areListedInTheHelp() throws {
    let list = try #require(FilterHelp.text.split(separator: "in quotes:\n").last)
      .split(separator: "\n\nExamples:")[0]
    let listed = list.split { ", \n".contains($0) }.map(String.init)
    #expect(listed.sorted() == (Self.names + ["accepted"]).sorted())
  }

  private static func mistake(in expression: String) -> FilterError? {
    do throws(FilterError) {
      _ = try SessionFilter(expression)
      return nil
    } catch {
      return error
    }
  }

  /// One letter less, one more, or two that are swapped.
  private static func misspelt(_ name: String) -> [String] {
    var letters = Array(name)
    let place = letters.count / 2
    let less = letters[..<place] + letters[(place + 1)...]
    let more = letters[...place] + ["x"] + letters[(place + 1)...]
    letters.swapAt(1, 2)
    return [String(less), String(more), String(letters)].filter { $0 != name }
  }

  @Test(arguments: names + ["accepted"])
  func suggestsTheNameThatIsMeant(name: String) throws {
    let wrong = Self.misspelt(name)
    #expect(wrong.count >= 2)
    for typed in wrong {
      let mistake = try #require(Self.mistake(in: "PUBLISH or code == \(typed)"))
      #expect(mistake.column == 20)
      #expect(mistake.message == "'\(typed)' is no code; did you mean \(name)?")
    }
  }

  @Test(arguments: [
    ("granted-qos-3", "granted-qos-0"), ("'Not authorised'", "not-authorized"),
    ("SUCESS", "success"), ("reauthenticate", "re-authenticate"),
    ("connection", "connection-accepted"), ("conection", nil), ("refused", nil), ("ok", nil),
    ("0x", nil), ("1x", nil),
  ])
  func suggestsOnlyWhatIsNear(typed: String, name: String?) throws {
    let mistake = try #require(Self.mistake(in: "code != \(typed)"))
    let text = typed.replacing("'", with: "")
    #expect(
      mistake.message
        == (name.map { "'\(text)' is no code; did you mean \($0)?" }
          ?? "code is a number such as 5 or 0x87, or a name such as not-authorized"))
    #expect(mistake.column == 9)
  }

  @Test(arguments: ["<", "<=", ">", ">="])
  func haveNoOrder(sign: String) throws {
    let mistake = try #require(Self.mistake(in: "code \(sign) 'Granted QoS 1'"))
    #expect(mistake.message == "'granted-qos-1' is a name, which is compared by == !=")
    #expect(mistake.column == 6)
  }

  /// A packet of 5.0 without a code says success, one of 3.1.1 has none.
  @Test func knowsTheCodesThatAreLeftOut() throws {
    func chooses(_ expression: String, _ type: MQTTPacketType, _ version: MQTTVersion) throws
      -> Bool
    {
      var filter = try SessionFilter(expression)
      let content: MQTTPacket.Content =
        type == .disconnect
        ? .disconnect(.init()) : .acknowledgement(type, packetID: 7, .init())
      return try Sample.event(MQTTPacket(content, version: version)).withView { filter.matches($0) }
    }
    #expect(try chooses("code == success", .puback, .v5_0))
    #expect(try !chooses("code == success", .disconnect, .v5_0))
    #expect(try chooses("code == normal-disconnection", .disconnect, .v5_0))
    for sign in ["==", "!="] {
      #expect(try !chooses("code \(sign) success", .puback, .v3_1_1))
      #expect(try !chooses("code \(sign) normal-disconnection", .disconnect, .v3_1_1))
    }
  }
}
