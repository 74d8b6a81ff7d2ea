/// The titles of the standards' sections, for tables that people read.
enum SectionTitle {
  /// Returns the title of a section of two numbers, such as `3.8`; empty if it is not known.
  static func of(_ section: String, in spec: String) -> String {
    titles[spec]?[section] ?? ""
  }

  /// Returns the first two numbers of a section: `3.8` of `3.8.3.1`.
  static func group(of section: String) -> String {
    section.split(separator: ".").prefix(2).joined(separator: ".")
  }

  /// Returns the numbers of a section, by which sections stand in order: 3.10 behind 3.9.
  static func numbers(of section: String) -> [Int] {
    section.split(separator: ".").map { Int($0) ?? .max }
  }

  private static let titles = [
    "mqtt-3.1.1": [
      "1.5": "Data representations", "2.2": "Fixed header", "2.3": "Variable header",
      "3.1": "CONNECT", "3.2": "CONNACK", "3.3": "PUBLISH", "3.6": "PUBREL", "3.8": "SUBSCRIBE",
      "3.9": "SUBACK", "3.10": "UNSUBSCRIBE", "3.12": "PINGREQ", "3.14": "DISCONNECT",
      "4.1": "Storing state", "4.3": "Quality of Service", "4.4": "Delivery retry",
      "4.5": "Message receipt", "4.6": "Message ordering", "4.7": "Topic names and filters",
      "4.8": "Handling errors", "6": "WebSocket", "7": "Conformance", "7.1": "Conformance targets",
    ],
    "mqtt-5.0": [
      "1.5": "Data representations", "2.1": "Fixed header", "2.2": "Variable header",
      "3.1": "CONNECT", "3.2": "CONNACK", "3.3": "PUBLISH", "3.4": "PUBACK", "3.5": "PUBREC",
      "3.6": "PUBREL", "3.7": "PUBCOMP", "3.8": "SUBSCRIBE", "3.9": "SUBACK",
      "3.10": "UNSUBSCRIBE", "3.11": "UNSUBACK", "3.12": "PINGREQ", "3.14": "DISCONNECT",
      "3.15": "AUTH", "4.1": "Session state", "4.2": "Network connections",
      "4.3": "Quality of Service", "4.4": "Delivery retry", "4.5": "Message receipt",
      "4.6": "Message ordering", "4.7": "Topic names and filters", "4.8": "Subscriptions",
      "4.9": "Flow control", "4.10": "Request and response", "4.11": "Server redirection",
      "4.12": "Enhanced authentication", "4.13": "Handling errors", "6": "WebSocket",
      "6.0": "WebSocket", "7": "Conformance", "7.1": "Conformance targets",
    ],
    "rfc6455": [
      "3": "WebSocket URIs", "4.1": "Client's handshake", "4.2": "Server's handshake",
      "4.3": "Header syntax", "4.4": "Versions", "5.1": "Framing", "5.2": "Base framing",
      "5.3": "Masking", "5.4": "Fragmentation", "5.5": "Control frames", "5.6": "Data frames",
      "5.8": "Extensibility", "6.1": "Sending data", "6.2": "Receiving data",
      "7.1": "Closing", "7.2": "Abnormal closures", "7.4": "Status codes",
      "8.1": "Errors in UTF-8", "9": "Extensions", "9.1": "Negotiating extensions",
      "10.3": "Attacks: masking", "10.4": "Limits", "10.6": "Confidentiality",
      "10.7": "Invalid data", "11.3": "HTTP header fields",
    ],
    "sdk": [
      "1.2": "Channel: configuration", "1.3": "Channel: connection", "1.4": "Channel: topics",
      "1.5": "Channel: requests", "1.6": "Channel: account", "1.10": "Channel: in the field",
      "2.1": "Gateway: relations", "2.2": "Gateway: lines", "2.3": "Gateway: topics",
      "2.4": "Gateway: payloads", "2.5": "Gateway: codes", "2.6": "Gateway: signing",
      "2.7": "Gateway: credentials", "2.8": "Gateway: in the field", "3.1": "Link: values",
      "3.2": "Link: state events", "3.3": "Link: configuration", "3.4": "Link: message service",
      "3.5": "Link: stream service", "3.6": "Link: heartbeats, presence",
      "3.7": "Link: restoring", "3.8": "Link: tokens", "3.9": "Link: errors",
      "3.10": "Link: in the field", "4.1": "Requests: frames", "4.2": "Requests: values",
      "4.3": "Requests: flow", "4.4": "Requests: defects", "4.5": "Requests: asked for",
      "5.2": "Messages",
    ],
  ]
}
