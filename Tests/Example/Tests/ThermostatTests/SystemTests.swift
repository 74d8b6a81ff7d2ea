import DeviceSDK
import LiveClient
import RepriseCore
import RepriseTesting
import Testing
import ThermostatKit

/// Each system of the thermostat on a recording of its own, which `REPRISE_RECORD=once` makes from servers that the
/// tests start.
@Suite struct SystemTests {
  /// Half a day at the cloud, recorded in 72 seconds and replayed in none.
  @Test(.replay("radiator", on: { try ScaledTimeClient(await Servers.cloud(), speed: 600) }))
  func theRadiatorReportsForHalfADay() async throws {
    let client = try TestClient.current
    let radiator = Radiator()
    let start = client.now
    try await Thermostat.patient().run(on: .init(cloud: client), radiator: radiator, reports: 48)
    #expect(radiator.room == 19.5 && radiator.target == 19.5, "what the cloud wanted")
    let seconds = client.now.nanoseconds(since: start) / 1_000_000_000
    #expect((12 * 3_600..<13 * 3_600).contains(seconds))
    let posts = client.transcript.filter {
      $0.contains("→ PUBLISH") && $0.contains("property/post")
    }
    #expect(posts.count == 48)
  }

  @Test(.replay("family", on: { try await Servers.familyWithLucy() }))
  func lucyIsCold() async throws {
    let client = try TestClient.current
    let radiator = Radiator(target: 20.0)
    let configuration = try Thermostat().family
    try await Family.join(on: client, as: configuration) { family in
      try await family.tell("hello")
      for await wish in family.wishes.prefix(2) {
        #expect(wish.user == "lucy" && wish.step == 5)
        try await family.grant(wish, by: radiator)
      }
    }
    #expect(radiator.target == 21.0)
  }

  @Test(.replay("evening.pcap", of: .connection(1))) func theNightOfTheCaptureHasFrost()
    async throws
  {
    #expect(try await Forecast.tonight(in: "Leipzig", on: try TestClient.current).lowest == -3.5)
  }

  @Test(.replay("weather", url: "ws://host/", on: { try await Servers.weatherService() }))
  func theNightHasFrost() async throws {
    let forecast = try await Forecast.tonight(in: "Leipzig", on: try TestClient.current)
    #expect(forecast.lowest == -3.5 && forecast.target == 18.0)
  }
}
