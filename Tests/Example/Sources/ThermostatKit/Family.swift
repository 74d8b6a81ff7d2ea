public import DeviceSDK
public import RepriseCore

/// The channel in which the thermostat talks with the family.
public struct Family: Sendable {
  /// The name of the channel.
  public static let channel = "home"

  private let link: Link
  private let user: String
  private let messages: BroadcastSequence<LinkMessage>

  /// Joins the family for as long as a body runs.
  /// - Parameters:
  ///   - client: The message service's world.
  ///   - configuration: The user that the thermostat is there.
  ///   - body: What is done with the family.
  /// - Returns: What the body returns.
  /// - Throws: `LinkError` when it is not let in, and what the body throws.
  public static func join<Result: Sendable>(
    on client: any DataClient, as configuration: LinkConfiguration,
    _ body: (Family) async throws -> Result
  ) async throws -> Result {
    try await withLink(on: client, configuration: configuration) { link in
      try await link.login()
      let family = Family(link: link, user: configuration.userID)
      try await link.subscribe(channel, .message)
      return try await body(family)
    }
  }

  private init(link: Link, user: String) {
    self.link = link
    self.user = user
    messages = link.messages(in: Self.channel)
  }

  /// Tells the family something.
  /// - Parameter text: What.
  /// - Throws: `LinkError` when nobody can be told.
  public func tell(_ text: String) async throws {
    try await link.publish(text, in: Self.channel)
  }

  /// What the family wants from the beginning on, without what is no wish.
  public var wishes: some AsyncSequence<Wish, Never> & Sendable {
    messages.compactMap { [user] in $0.publisher == user ? nil : Wish($0) }
  }

  /// Does what somebody wants, and tells everybody.
  /// - Parameters:
  ///   - wish: What is wanted.
  ///   - radiator: The radiator.
  /// - Throws: `LinkError` when nobody can be told.
  public func grant(_ wish: Wish, by radiator: Radiator) async throws {
    try await tell("\(wish.user) gets \(radiator.change(by: wish.step))")
  }
}

/// What one of the family wants: half a degree more or less.
public struct Wish: Sendable, Hashable {
  /// The user who wants it.
  public let user: String
  /// The tenths of a degree that it is to become warmer.
  public let step: Int

  /// Reads a message; nil when it is no wish.
  init?(_ message: LinkMessage) {
    switch message.text {
    case "warmer": step = 5
    case "cooler": step = -5
    default: return nil
    }
    user = message.publisher
  }
}
