import Testing
import Wire

/// `Sec-WebSocket-Extensions` (RFC 6455 section 9.1) and permessage-deflate (RFC 7692 section 7.1).
@Suite struct WebSocketExtensionTests {
  @Test(arguments: [
    ("a", "a"), ("a,b", "a, b"), ("a,", "a"), (" , a ,, b , ", "a, b"),
    (" a ; b = c ; d ", "a; b=c; d"),
    ("a; b=\"c\"", "a; b=c"), ("a; b=\"\\c\\d\"", "a; b=cd"),
    (
      "permessage-deflate; client_max_window_bits; server_max_window_bits=10",
      "permessage-deflate; client_max_window_bits; server_max_window_bits=10"
    ),
  ])
  func reads(value: String, expected: String) {
    let (extensions, isValid) = WebSocketExtension.parse(value)
    #expect(isValid)
    #expect(extensions.map(\.description).joined(separator: ", ") == expected)
  }

  @Test(arguments: [
    "", ",", ",,", "a;", "a;;b", "a b", "a; b=", "a; b=\"", "a; b=\"c", "a; b=\"c d\"",
    "a; b=\"\"", "a; b=\"c\\", "a; =c", "a=b", "ä",
  ])
  func tellsWhatBreaksTheSyntax(value: String) {
    #expect(!WebSocketExtension.parse(value).isValid)
  }

  private static func deflate(
    _ parameters: String, _ place: PermessageDeflate.Place
  ) -> (deflate: PermessageDeflate, isValid: Bool) {
    let text = parameters.isEmpty ? PermessageDeflate.name : "permessage-deflate; \(parameters)"
    let parsed = WebSocketExtension.parse(text)
    #expect(parsed.isValid)
    return PermessageDeflate.read(parsed.extensions.first?.parameters ?? [], in: place)
  }

  @Test(arguments: [
    ("", true, true), ("server_no_context_takeover", true, true),
    ("client_no_context_takeover", true, true), ("client_max_window_bits", true, false),
    ("client_max_window_bits=8", true, true), ("server_max_window_bits=15", true, true),
    ("server_max_window_bits=\"9\"", true, true), ("server_max_window_bits", false, false),
    ("server_max_window_bits=7", false, false), ("server_max_window_bits=16", false, false),
    ("server_max_window_bits=08", false, false), ("client_max_window_bits=+9", false, false),
    ("server_no_context_takeover=1", false, false), ("unknown", false, false),
    ("server_max_window_bits=9; server_max_window_bits=9", false, false),
    ("client_no_context_takeover; client_no_context_takeover", false, false),
  ])
  func knowsItsParameters(parameters: String, inOffer: Bool, inResponse: Bool) {
    #expect(Self.deflate(parameters, .offer).isValid == inOffer)
    #expect(Self.deflate(parameters, .response).isValid == inResponse)
  }

  /// An offer, a response, and whether the one may be given to the other.
  @Test(arguments: [
    ("", "", true), ("", "server_no_context_takeover; client_no_context_takeover", true),
    ("", "server_max_window_bits=10", true), ("", "client_max_window_bits=10", false),
    ("client_max_window_bits", "client_max_window_bits=10", true),
    ("client_max_window_bits", "", true),
    // The number is a hint, which the server may ignore (section 7.1.2.2).
    ("client_max_window_bits=10", "client_max_window_bits=11", true),
    ("client_max_window_bits=10", "client_max_window_bits=10", true),
    ("server_max_window_bits=10", "", false),
    ("server_max_window_bits=10", "server_max_window_bits=11", false),
    ("server_max_window_bits=10", "server_max_window_bits=9", true),
    ("server_no_context_takeover", "", false),
    ("server_no_context_takeover", "server_no_context_takeover", true),
    ("client_no_context_takeover", "", true),
  ])
  func knowsWhatAnswersAnOffer(offer: String, response: String, answers: Bool) {
    let offered = Self.deflate(offer, .offer).deflate
    #expect(Self.deflate(response, .response).deflate.answers(offered) == answers)
  }
}
