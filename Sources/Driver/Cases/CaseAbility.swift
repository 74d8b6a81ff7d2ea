/// What a subject may be unable to do without being at fault, which a case may need.
package enum CaseAbility: String, Sendable, Hashable, CaseIterable {
  /// A broker keeps retained messages.
  case retain
  /// It takes messages of QoS 1; a client sends or asks for them.
  case qos1
  /// It takes messages of QoS 2; a client sends or asks for them.
  case qos2
  /// A broker takes filters with wildcards.
  case wildcards
  /// It takes shared subscriptions (5.0).
  case shared
  /// It takes identifiers of subscriptions (5.0).
  case identifiers
  /// It takes aliases of topics (5.0).
  case aliases
  /// A broker says that it does not take messages of QoS 2 (5.0), which a case asks of it all the same.
  case noQoS2 = "no-qos2"
  /// It says that it keeps no retained messages (5.0).
  case noRetain = "no-retain"
  /// It says that it takes no filters with wildcards (5.0).
  case noWildcards = "no-wildcards"
  /// It says that it takes no shared subscriptions (5.0).
  case noShared = "no-shared"
  /// It says that it takes no identifiers of subscriptions (5.0).
  case noIdentifiers = "no-identifiers"
  /// It names a largest packet, of less than 300 kB (5.0).
  case packetLimit = "packet-limit"
  /// It keeps sessions of clients that are away; a client asks for one.
  case sessions
  /// A broker authenticates clients by a method that is known, or a client names one (5.0 section 4.12).
  case authentication
  /// A broker is started for the case, so that nobody else uses it.
  case alone
  /// A client publishes.
  case publishes
  /// It subscribes.
  case subscribes
  /// A server or client of WebSocket agrees on permessage-deflate.
  case deflate
}
