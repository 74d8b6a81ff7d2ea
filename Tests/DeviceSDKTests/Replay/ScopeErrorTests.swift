import AppSessions
import RepriseCore
import Testing

@testable import DeviceSDK

/// What an app throws in a replay.
@Suite struct ScopeErrorTests {
  private struct OutOfCoffee: Error, CustomStringConvertible {
    let description = "the app is out of coffee"
  }

  /// An app that connects, hears of a lamp twice and asks for it.
  private static func events() async throws -> ReplayEvents {
    try AppSession.events(
      try await AppSession.record { app in
        try await app.connectAndHearTwice()
        _ = try await app.channel.invoke("/light/get")
      })
  }

  private static func replay(
    patience: ReplayPatience = .standard, _ body: (Channel) async throws -> Void
  ) async throws -> (error: (any Error)?, client: ReplayClient) {
    let client = try ReplayClient(
      try await events(), options: ReplayOptions(roles: .channel, patience: patience))
    do {
      try await withChannel(on: client, configuration: SampleChannel.configuration(), body)
    } catch { return (error, client) }
    return (nil, client)
  }

  @Test func whatTheAppThrowsArrives() async throws {
    let (error, client) = try await Self.replay { channel in
      try await channel.start()
      throw OutOfCoffee()
    }
    #expect(error is OutOfCoffee)
    let divergence = try #require(client.divergence)
    #expect(divergence.actual == "DISCONNECT")
    #expect(divergence.applicationError == "the app is out of coffee")
    #expect(divergence.description.contains("ended with an error: the app is out of coffee"))
    #expect(throws: DataClientError.self) { try client.finish() }
  }

  private struct Talkative: Error, CustomStringConvertible {
    let description = "no answer to token=hush"
  }

  @Test func whatTheAppThrowsTellsNoSecret() async throws {
    let (error, client) = try await Self.replay { channel in
      try await channel.start()
      throw Talkative()
    }
    #expect(error is Talkative)
    #expect(client.divergence?.applicationError == "no answer to token=***")
  }

  /// An error of the SDK that comes of nothing but the session is the app's own, too.
  @Test func anErrorOfTheSDKArrives() async throws {
    let (error, client) = try await Self.replay { channel in
      try await channel.start()
      try await channel.publish("/a/#")
    }
    #expect((error as? ChannelError)?.kind == .client)
    #expect(client.divergence?.applicationError?.isEmpty == false)
  }

  /// Where the world was broken before, what comes of it is told as that.
  @Test func whatComesOfADivergenceIsTheDivergence() async throws {
    let (error, client) = try await Self.replay { channel in
      try await channel.start()
      _ = try await channel.invoke("/other")
    }
    #expect((error as? DataClientError)?.code == .diverged)
    #expect(client.divergence?.actual?.contains("/other") == true)
    #expect(client.divergence?.applicationError == nil)
  }

  /// An error of a scope within the body that the app took in hand is not what a later divergence comes of.
  @Test(arguments: [true, false]) func whatTheAppCaughtIsForgotten(isCaught: Bool) async throws {
    let client = try ReplayClient(
      try await Self.events(), options: ReplayOptions(roles: .channel))
    let session = SharedSession(on: client)
    await #expect(throws: (any Error).self) {
      try await withChannel(on: session, configuration: SampleChannel.configuration()) { channel in
        try await channel.start()
        do {
          let rider = session.client(.rider)
          defer { rider.leave() }
          try await withGateway(on: rider, configuration: GatewayWorld.configuration()) { _ in
            throw OutOfCoffee()
          }
        } catch  where isCaught {}
        _ = try await channel.invoke("/other")
      }
    }
    let divergence = try #require(client.divergence)
    #expect(divergence.applicationError == (isCaught ? nil : "the app is out of coffee"))
    #expect(divergence.actual?.contains("/other") == isCaught)
  }

  /// The app's own error is kept also where the world was broken before.
  @Test func theAppsOwnErrorIsKeptBehindADivergence() async throws {
    let (error, client) = try await Self.replay { channel in
      try await channel.start()
      _ = try? await channel.invoke("/other")
      throw OutOfCoffee()
    }
    #expect(error is OutOfCoffee)
    #expect(client.divergence?.actual?.contains("/other") == true)
  }
}
