import CloudSimulator
import DeviceSDK
import Foundation
import RepriseCore
import RepriseTesting
import TestSupport
import Testing

/// The test of the README, as it stands there but for the broker, and the modes of the guide to tests.
@Suite struct ReadmeTests {
  @Test(.replay("kitchen", on: { InProcessBroker().client(named: "kitchen") }))
  func aVisitorRings() async throws {
    let client = try TestClient.current
    try await withSession(on: client, configuration: MQTTConfiguration(clientID: "kitchen")) {
      mqtt in
      try await mqtt.publish("home/door/bell", "ding", retain: true)
      for try await ring in mqtt.messages(matching: "home/door/bell").prefix(1) {
        #expect(ring.text == "ding")
      }
    }
  }

  /// What is written, without comments, line ends and spaces, which a formatter moves.
  private static func plain(_ text: Substring) -> String {
    text.replacing(#/ // .*/#, with: "").filter { !$0.isWhitespace }
  }

  @Test func theReadmeShowsThisTest() throws {
    let here = URL(filePath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let start = try #require(readme.range(of: "    @Test(.replay(\"kitchen\""))
    let end = try #require(
      readme.range(of: "\n\n`REPRISE_RECORD=once", range: start.lowerBound..<readme.endIndex))
    let shown = Self.plain(readme[start.lowerBound..<end.lowerBound]).replacing(
      #"tryMosquittoClient(url:"mqtt://localhost")"#,
      with: #"InProcessBroker().client(named:"kitchen")"#)
    #expect(shown.count > 300 && Self.plain(source[...]).contains(shown))
  }

  /// The modes of the guide are those that there are.
  @Test func theGuideTellsEveryMode() throws {
    let page = PackageFolder.url.appending(path: "Documentation/Reprise.docc/Guides/TestYourApp.md")
    let guide = try String(contentsOf: page, encoding: .utf8)
    let told = guide.matches(of: #/\n\| `([a-z]+)`[^|]*\| (?:fails|is made) \|/#)
      .map { String($0.1) }
    #expect(told == RecordingMode.allCases.map(\.rawValue))
  }
}
