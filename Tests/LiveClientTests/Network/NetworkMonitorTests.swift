import Foundation
import Testing

/// The monitor and requests in networks of the test's own.
///
/// Each test makes a network namespace by `unshare`, which root may, and others where the system lets them
/// have namespaces of users; where neither is so, as in some containers, the tests fail. The network is made by
/// `ip` of the package iproute2: two ends of a virtual cable.
@Suite(.timeLimit(.minutes(5))) struct NetworkMonitorTests {
  /// Runs a script in an empty network; returns what it wrote.
  private func run(_ script: String, _ arguments: String...) async throws -> [String] {
    let text = try await Child.run(
      ["unshare", "--map-root-user", "--net", "bash", "-euc", script, Self.probe] + arguments)
    return text.split(separator: "\n").map(String.init)
  }

  /// The program beside the tests' own.
  private static var probe: String {
    let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appending(path: "network-probe").path
  }

  /// `expect` reads the next line of the monitor; a step behind which there is none must change nothing, as the line
  /// would be read at the next one's place.
  private static let watching = """
    trap 'kill $(jobs -p) 2>/dev/null' EXIT
    coproc "$0" watch
    expect() { read -r -t 60 -u "${COPROC[0]}" line; echo "$1: $line"; }
    """

  @Test func followsTheNetwork() async throws {
    let lines = try await run(
      Self.watching + """

        expect 'nothing but a loopback that is off'
        ip link set lo up
        ip link add near type veth peer name far
        ip address add 192.0.2.1/24 dev near
        ip link set near up
        ip link set far up
        expect 'both ends are up'
        ip address add 192.0.2.3/24 dev near
        ip address del 192.0.2.3/24 dev near
        ip link set far down
        expect 'the other end is off'
        ip link set far up
        expect 'the other end is on'
        ip link set near down
        expect 'off'
        ip link set near up
        expect 'on'
        ip address del 192.0.2.1/24 dev near
        expect 'without an address'
        ip address add 169.254.7.7/16 dev near
        ip address add 127.5.5.5/8 dev near
        ip address add 192.0.2.1/32 dev lo
        ip address add 2001:db8::1/64 dev near nodad
        expect 'with an address of IPv6'
        ip address del 2001:db8::1/64 dev near
        expect 'without it'
        ip address add 192.0.2.5/24 dev far
        expect 'with an address of the other end'
        ip link del near
        expect 'without the interface'
        """)
    #expect(
      lines == [
        "nothing but a loopback that is off: unreachable", "both ends are up: reachable",
        "the other end is off: unreachable", "the other end is on: reachable",
        "off: unreachable", "on: reachable", "without an address: unreachable",
        "with an address of IPv6: reachable", "without it: unreachable",
        "with an address of the other end: reachable", "without the interface: unreachable",
      ])
  }

  /// More happens than the socket has room for, while the monitor stands still.
  @Test func seesWhatBecameOfANetworkThatChangedTooOften() async throws {
    let lines = try await run(
      Self.watching + """

        expect 'at first'
        ip link add near type veth peer name far
        ip link set far up
        ip link set near up
        kill -STOP "$COPROC_PID"
        for round in {1..700}; do
          echo address add 192.0.2.1/24 dev near
          echo address del 192.0.2.1/24 dev near
        done | ip -batch -
        ip address add 192.0.2.1/24 dev near
        awk -v pid="$COPROC_PID" '$2 == 0 && $9 > 0 { lost = 1 } END { print lost ? "lost" : "not lost" }' \
          /proc/net/netlink
        kill -CONT "$COPROC_PID"
        expect 'at last'
        """)
    #expect(lines == ["at first: unreachable", "lost", "at last: reachable"])
  }

  @Test func leavesNothingBehind() async throws {
    #expect(try await run("\"$0\" leave") == ["files few", "threads few"])
  }

  @Test(
    arguments: [
      ("", "127.0.0.1:1", "noNetwork -12"),
      ("", "localhost:1", "noNetwork -12"),
      ("", "192.0.2.1:1", "noNetwork -12"),
      ("", "no-such-host.invalid", "noNetwork -12"),
      ("ip link set lo up", "127.0.0.1:1", "unreachable -13"),
      ("ip link set lo up", "192.0.2.1:1", "noNetwork -12"),
      ("ip link set lo up", "no-such-host.invalid", "noNetwork -12"),
      (cable, "192.0.2.1:1", "unreachable -13"),
      (cable, "198.51.100.1:1", "other -13"),
      (cable, "no-such-host.invalid", "nameNotResolved -13"),
    ])
  func aRequestTellsThatThereIsNoNetwork(
    _ network: String, _ host: String, _ outcome: String
  ) async throws {
    #expect(try await run("\(network)\n\"$0\" request http://$1", host) == [outcome])
  }

  /// Over WebSocket as over HTTP, nobody having told the requests of the network.
  @Test(
    arguments: [
      ("", "127.0.0.1:1", "noNetwork -12"),
      ("", "192.0.2.1:1", "noNetwork -12"),
      ("", "no-such-host.invalid", "noNetwork -12"),
      ("ip link set lo up", "127.0.0.1:1", "other -13"),
      ("ip link set lo up", "192.0.2.1:1", "noNetwork -12"),
      ("ip link set lo up", "no-such-host.invalid", "noNetwork -12"),
      (cable, "192.0.2.1:1", "other -13"),
      (cable, "198.51.100.1:1", "other -13"),
      (cable, "no-such-host.invalid", "other -13"),
    ])
  func aRequestOverWebSocketTellsThatThereIsNoNetwork(
    _ network: String, _ host: String, _ outcome: String
  ) async throws {
    #expect(try await run("\(network)\n\"$0\" request ws://$1", host) == [outcome])
  }

  @Test(
    arguments: ["mqtt", "ws"],
    [
      ("", "127.0.0.1:1", "noNetwork"), ("", "no-such-host.invalid", "noNetwork"),
      ("ip link set lo up", "127.0.0.1:1", "other"),
      ("ip link set lo up", "192.0.2.1:1", "noNetwork"),
      (cable, "192.0.2.1:1", "other"), (cable, "198.51.100.1:1", "other"),
      (cable, "no-such-host.invalid", "other"),
    ])
  func aConnectionOfMQTTTellsThatThereIsNoNetwork(
    _ scheme: String, _ place: (network: String, host: String, cause: String)
  ) async throws {
    let lines = try await run(
      "\(place.network)\n\"$0\" connect $1://$2", scheme, place.host)
    #expect(lines == [place.cause])
  }

  private static let cable = """
    ip link set lo up
    ip link add near type veth peer name far
    ip address add 192.0.2.1/24 dev near
    ip link set far up
    ip link set near up
    """
}
