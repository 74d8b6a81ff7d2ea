import RepriseCore
import Testing

/// What stands for a secret is JSON where the secret was, so that what is recorded is JSON again.
@Suite struct HiddenSecretTests {
  private static let cases = [
    (#"{"iotToken":"abc"}"#, #"{"iotToken":"***"}"#),
    (#"{"sign":12345,"n":1}"#, #"{"sign":"***","n":1}"#),
    (#"{"token":null,"cookie":false,"sign":true}"#, #"{"token":null,"cookie":false,"sign":true}"#),
    // As cJSON_Print writes it.
    (
      "{\n\t\"iotToken\":\t\"abc\",\n\t\"sign\" : \r\n 12\n}",
      "{\n\t\"iotToken\":\t\"***\",\n\t\"sign\" : \r\n \"***\"\n}"
    ),
    (#"{"a":"{\"token\":12,\"b\":1}"}"#, #"{"a":"{\"token\":\"***\",\"b\":1}"}"#),
    (#"{"a":"{\n\t\"token\" :\t\"abc\"\n}"}"#, #"{"a":"{\n\t\"token\" :\t\"***\"\n}"}"#),
    (
      #"{"a":"{\"b\":\"{\\\"token\\\":\\t7\\n}\"}"}"#,
      #"{"a":"{\"b\":\"{\\\"token\\\":\\t\\\"***\\\"\\n}\"}"}"#
    ),
  ]

  /// The payload of a message, as a recording has it.
  @Test(arguments: cases) func inPayloads(_ payload: String, _ hidden: String) throws {
    var session = SessionBuilder()
    session.publish(0, .client, "t", payload)
    var line: [UInt8] = []
    session.events[0].withView { EventJSONWriter().append($0, to: &line) }
    let value = JSONValue(parsing: line)?["payload"]?["utf8"]?.text
    #expect(value == hidden)
    #expect(JSONValue(parsing: Array(hidden.utf8)) != nil)
  }

  @Test(arguments: cases) func inValues(_ payload: String, _ hidden: String) throws {
    let value = try #require(JSONValue(parsing: Array(payload.utf8)))
    #expect(value.hidingSecrets == JSONValue(parsing: Array(hidden.utf8)))
  }

  /// A request that is recorded with such members can be made again.
  @Test(arguments: cases) func inWhatIsReplayed(_ payload: String, _ hidden: String) async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "t", hidden)
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    try await user.publish("t", payload)
  }
}
