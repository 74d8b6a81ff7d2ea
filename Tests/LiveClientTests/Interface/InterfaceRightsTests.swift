import Glibc
import TestSupport
import Testing

/// What capturing is refused for, and which rights it keeps.
@Suite struct InterfaceRightsTests {
  private let directory = Scratch()

  private func errors(
    _ words: [String], _ before: [String] = [], program: String = RunningCommand.path
  ) async throws -> String {
    let file = directory.file("a.pcapng")
    let child = try Child(
      before + [program, "record", "interface"] + words + ["-o", file], errorsApart: true)
    #expect(await child.wait() == 2)
    #expect(child.text == "")
    // What was never begun leaves no trace.
    #expect(access(file, F_OK) != 0)
    return child.errors
  }

  /// What is told to a user without any right, in a place where everybody may run the command and write.
  private func errorsOfNobody(_ words: [String]) async throws -> (errors: String, program: String) {
    #expect(chmod(directory.path, 0o777) == 0)
    let program = directory.file("reprise")
    try await Child.run(["cp", RunningCommand.path, program])
    let nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
    return (try await errors(words, nobody, program: program), program)
  }

  @Test func namesTheInterfacesThatThereAre() async throws {
    let told = try await errors(["nope7"])
    let start = "reprise: nope7: there is no such interface; type one of these: "
    #expect(told.hasPrefix(start))
    let names = told.dropFirst(start.count).dropLast().split(separator: ", ")
    #expect(names.contains("lo") && names.contains("any"))
    #expect(told.components("\n") == 1)
  }

  @Test func saysWhatIsWrongWithAFilter() async throws {
    #expect(
      try await errors(["lo", "--bpf", "port"]).hasPrefix(
        "reprise: --bpf: libpcap refuses the filter for link type 1: "))
    // A user who may not capture is told, too.
    #expect(
      try await errorsOfNobody(["lo", "--bpf", "port"]).errors.hasSuffix("; see man pcap-filter\n"))
  }

  @Test func saysThatAnInterfaceIsDown() async throws {
    // In a network of its own, nothing is up at first.
    #expect(
      try await errors(["lo"], ["unshare", "-n"])
        == "reprise: lo: the interface is down; bring it up: ip link set lo up\n")
  }

  @Test func saysWhatToTypeWithoutTheRight() async throws {
    let (told, program) = try await errorsOfNobody(["lo"])
    #expect(
      told == "reprise: lo: this user may not capture; give the command the right to it: "
        + "sudo setcap cap_net_raw,cap_net_admin+eip \(program)\n")
  }

  /// What is to be typed gives the right, and nothing less does.
  @Test func capturesWhenWhatItSaysIsTyped() async throws {
    let (told, program) = try await errorsOfNobody(["lo"])
    let advice = try #require(told.dropLast().split(separator: "sudo ").last)
    let words = ["setpriv", "--reuid", "65534", "--clear-groups", program, "record", "interface"]
    let what = ["lo", "--bpf", "udp port 9", "--count", "1", "-o", directory.file("b.pcapng")]
    let without = try Child(words + what)
    #expect(await without.wait() == 2)
    try await Child.run(["bash", "-euc", String(advice)])
    let child = try Child(words + what)
    try await child.wait(for: "a capture") { $0.text.contains("capturing to") }
    try await Child.run(["bash", "-c", "echo > /dev/udp/127.0.0.1/9"])
    #expect(await child.wait() == 0, "\(child.text)")
    #expect(owner("b.pcapng") == 65534)
    #expect(CaptureBlocks(directory.file("b.pcapng")).statistics.count == 1)
  }

  /// What came before an interface went away is kept; that it goes is noticed also where it was down before, of which the
  /// system tells once.
  @Test(arguments: ["ip link del d0", "ip link set d0 down && ip link del d0"])
  func endsWithItsInterface(end: String) async throws {
    let file = directory.file("a.pcapng")
    let script = """
      ip link add d0 type veth peer name d1 && ip addr add 192.0.2.1/24 dev d0 || exit 99
      ip link set d1 up && ip link set d0 up && ip route add 224.0.0.0/4 dev d0 || exit 99
      \(RunningCommand.path) record interface d0 -o \(file) 2>&1 | while read -r line; do
        echo "$line"
        case $line in *capturing*)
          until [ ! -e \(file) ] || [ "$(stat -c %s \(file))" -gt 600 ]; do
            echo > /dev/udp/224.0.0.1/9
          done
          \(end) ;;
        esac
      done
      exit ${PIPESTATUS[0]}
      """
    let child = try Child(["unshare", "-n", "bash", "-c", script])
    #expect(await child.wait() == 2)
    let lines = child.text.split(separator: "\n")
    #expect(lines.count == 3, "\(child.text)")
    #expect(lines.last?.hasPrefix("reprise: d0: no more can be captured: ") == true)
    let blocks = CaptureBlocks(file)
    #expect(blocks.statistics.map { $0.number(8) } == [UInt64(blocks.packets)])
    #expect(blocks.packets > 0)
  }

  // MARK: The rights of root

  /// The users of a process: real, effective, saved, and of the file system.
  private func users(_ pid: String) -> [Substring] {
    let lines = Child.text(of: "/proc/\(pid)/status").split(separator: "\n")
    return lines.first { $0.hasPrefix("Uid:") }?.split(separator: "\t").dropFirst().map { $0 } ?? []
  }

  /// Starts a capture as root and as its caller by sudo, and tells whose it is when it captures.
  private func users(
    _ environment: [String], _ options: [String], file: String
  ) async throws -> (child: Child, users: [Substring]) {
    let words =
      ["env"] + environment + [RunningCommand.path, "record", "interface", "lo", "-o"]
      + [directory.file(file)] + options
    let script = "echo $$; exec \"$@\""
    let child = try Child(["bash", "-c", script, "bash"] + words, errorsApart: true)
    try await child.wait(for: "a capture") { $0.errorText.contains("capturing to") }
    let pid = child.text.split(separator: "\n").first.map(String.init) ?? ""
    return (child, users(pid))
  }

  private func owner(_ file: String) -> uid_t? { directory.status(of: file)?.st_uid }

  @Test func goesOnAsNobody() async throws {
    let (child, users) = try await users(["-u", "SUDO_UID"], [], file: "a.pcapng")
    let nobody = try #require(getpwnam("nobody")).pointee.pw_uid
    #expect(users == Array(repeating: "\(nobody)", count: 4))
    await child.stop(SIGINT)
    // The user `nobody` has many processes, so the file is not given to it.
    #expect(owner("a.pcapng") == 0)
    #expect(CaptureBlocks(directory.file("a.pcapng")).statistics.count == 1)
  }

  /// A key log that is still to come is for its writer alone, be that root.
  @Test(arguments: [(false, false), (true, false), (false, true)])
  func waitsForKeysAsWhoCanReadThem(_ isThere: Bool, _ hasCaller: Bool) async throws {
    let keys = directory.file("keys.log")
    if isThere { close(open(keys, O_CREAT | O_WRONLY, 0o600)) }
    let nobody = try #require(getpwnam("nobody")).pointee.pw_uid
    let script = "echo $$; exec \"$@\""
    let environment = hasCaller ? Self.caller : ["-u", "SUDO_UID"]
    let child = try Child(
      ["bash", "-c", script, "bash", "env"] + environment + [
        RunningCommand.path, "inspect", "--interface", "lo", "--bpf", "udp port 9", "--keylog",
        keys,
      ], errorsApart: true)
    try await child.wait(for: "a capture") { $0.errorText.contains("note: capturing") }
    let pid = child.text.split(separator: "\n").first.map(String.init) ?? ""
    let user = hasCaller ? "12345" : isThere ? "\(nobody)" : "0"
    #expect(users(pid) == Array(repeating: Substring(user), count: 4))
    #expect(child.errors.contains("lo: note: runs on as root, because nobody") == (user == "0"))
    await child.stop(SIGINT)
  }

  private static let caller = ["SUDO_UID=12345", "SUDO_GID=12346", "SUDO_USER=ann"]

  @Test func goesOnAsWhoCalledSudo() async throws {
    #expect(chown(directory.path, 12345, 12346) == 0)
    let (child, users) = try await users(
      Self.caller, ["--bpf", "udp port 9", "--rotate", "--interval", "1ms"], file: "a.pcapng")
    #expect(users == Array(repeating: "12345", count: 4))
    for _ in 0..<2 {
      try await Child.run(["bash", "-c", "echo > /dev/udp/127.0.0.1/9"])
    }
    await child.stop(SIGINT)
    #expect(owner("a-0001.pcapng") == 12345)
    #expect(!child.errors.contains("as root"))
  }

  /// In a directory of root's, the caller could not create the next file.
  @Test func staysRootsWhereTheCallerCanNotWrite() async throws {
    let (child, users) = try await users(
      Self.caller, ["--rotate", "--interval", "1h"], file: "a.pcapng")
    #expect(users == Array(repeating: "0", count: 4))
    #expect(child.errors.contains("lo: note: runs on as root, because ann can't write the next"))
    await child.stop(SIGINT)
    #expect(owner("a-0001.pcapng") == 0)
    // One file needs no other right.
    let (single, others) = try await self.users(Self.caller, [], file: "b.pcapng")
    #expect(others == Array(repeating: "12345", count: 4))
    await single.stop(SIGINT)
    #expect(owner("b.pcapng") == 12345)
  }
}
