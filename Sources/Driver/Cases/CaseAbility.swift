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
