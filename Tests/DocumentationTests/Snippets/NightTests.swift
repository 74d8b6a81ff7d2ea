import LiveClient
import RepriseCore
import RepriseTesting
import Testing

/// A test with several clients, as the first page of RepriseTesting has it; there are no recordings of it here.
@Suite(.disabled("it is shown, and compiled")) struct NightTests {
  @Test(
    .replay("night/cloud", on: { try MosquittoClient(url: "mqtt://cloud") }),
    .replay("night/family", on: { try MosquittoClient(url: "mqtt://home") }))
  func aNight() async throws {
    try await runThermostat(
      cloud: try TestClient.named("night/cloud"), family: try TestClient.named("night/family"))
  }

  private func runThermostat(cloud: any DataClient, family: any DataClient) async throws {}
}
