/// What a broker may be unable to do without being at fault, which a case may need.
package enum BrokerAbility: String, Sendable, Hashable, CaseIterable {
  /// It keeps retained messages.
  case retain
  /// It takes messages of QoS 1.
  case qos1
  /// It takes messages of QoS 2.
  case qos2
  /// It takes filters with wildcards.
  case wildcards
  /// It takes shared subscriptions (5.0).
  case shared
  /// It takes identifiers of subscriptions (5.0).
  case identifiers
  /// It takes aliases of topics (5.0).
  case aliases
  /// It keeps sessions of clients that are away.
  case sessions
}
