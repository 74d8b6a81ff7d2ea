import Foundation
import TestSupport
import Testing

/// `reprise view` in a terminal, as people use it.
@Suite(.serialized) struct ViewTerminalTests {
  private static func capture(_ name: String) -> String {
    RepriseProcess.quoted(PackageFolder.capture(name))
  }

  /// A session in which the server delivers a message at a lower QoS than it granted.
  private static let downgraded = """
    {"reprise":1,"source":{"kind":"capture"},"redacted":[]}
    {"frame":4,"time":"2026-11-21T07:45:10.099174Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"OPEN","client":"127.0.0.1:54429","server":"127.0.0.1:1883","fromStart":true,"firstFrame":1,"firstTime":"2026-11-21T07:45:10.098781Z"}
    {"frame":4,"time":"2026-11-21T07:45:10.099174Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"CONNECT","length":17,"clientID":"sub-1","cleanStart":true,"keepAlive":60}
    {"frame":9,"time":"2026-11-21T07:45:10.099615Z","connection":1,"from":"server","protocol":"mqtt-3.1.1","type":"CONNACK","length":2,"sessionPresent":false,"returnCode":0}
    {"frame":13,"time":"2026-11-21T07:45:10.099924Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"SUBSCRIBE","length":8,"packetID":1,"filters":[{"filter":"g/#","qos":1}]}
    {"frame":14,"time":"2026-11-21T07:45:10.099951Z","connection":1,"from":"server","protocol":"mqtt-3.1.1","type":"SUBACK","length":3,"packetID":1,"reasonCodes":[1]}
    {"frame":19,"time":"2026-11-21T07:45:10.250718Z","connection":2,"from":"client","protocol":"mqtt-3.1.1","type":"OPEN","client":"127.0.0.1:45801","server":"127.0.0.1:1883","fromStart":true,"firstFrame":16,"firstTime":"2026-11-21T07:45:10.250608Z"}
    {"frame":19,"time":"2026-11-21T07:45:10.250718Z","connection":2,"from":"client","protocol":"mqtt-3.1.1","type":"CONNECT","length":17,"clientID":"pub-1","cleanStart":true,"keepAlive":60}
    {"frame":24,"time":"2026-11-21T07:45:10.251082Z","connection":2,"from":"server","protocol":"mqtt-3.1.1","type":"CONNACK","length":2,"sessionPresent":false,"returnCode":0}
    {"frame":34,"time":"2026-11-21T07:45:10.294985Z","connection":2,"from":"client","protocol":"mqtt-3.1.1","type":"PUBLISH","length":35,"packetID":2,"qos":1,"retain":false,"dup":false,"topic":"g/dev1/state","payload":{"utf8":"{\\"q\\": 1, \\"v\\": 21.5}"}}
    {"frame":36,"time":"2026-11-21T07:45:10.295141Z","connection":1,"from":"server","protocol":"mqtt-3.1.1","type":"PUBLISH","length":33,"qos":0,"retain":false,"dup":false,"topic":"g/dev1/state","payload":{"utf8":"{\\"q\\": 1, \\"v\\": 21.5}"}}
    {"frame":38,"time":"2026-11-21T07:45:10.295165Z","connection":2,"from":"server","protocol":"mqtt-3.1.1","type":"PUBACK","length":2,"packetID":2}
    {"frame":40,"time":"2026-11-21T07:45:10.296165Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"DISCONNECT","length":0}
    {"frame":42,"time":"2026-11-21T07:45:10.297165Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"CLOSE","how":"fin","firstFrame":41,"firstTime":"2026-11-21T07:45:10.296165Z"}

    """

  @Test func walksThroughASession() throws {
    let tmux = try Tmux()
    try tmux.enter("$reprise view \(Self.capture("qos-levels-v5")); echo status $?")
    var rows = try tmux.wait("the list") {
      $0.contains("1/43  frame 4\n> 08:55:03.066767") && $0.contains("\n q quit  Enter details")
    }
    #expect(rows[0].hasSuffix("qos-levels-v5/capture.pcap  1/43  frame 4"))
    #expect(rows[23].hasPrefix(" q quit  Enter details"))
    #expect(try tmux.ask("#{alternate_on}") == "1")

    try tmux.enter("/pressure")
    rows = try tmux.wait("the place of the text") { $0.contains("16/43  frame 31") }
    #expect(
      rows[16].hasPrefix("> 08:55:03.093003     31  #3   → PUBLISH     plant/boiler/pressure"))
    try tmux.press("Enter")
    rows = try tmux.wait("details") { $0.contains("── details") }
    #expect(
      rows[10...11] == [
        "Frame 31, connection 3, client → server, 2026-11-21T08:55:03.093003Z",
        "→ answered by frame 33 PUBACK, after 45.0 µs",
      ])
    try tmux.type("c")
    try tmux.wait("the answer") { $0.contains("← answers frame 31 PUBLISH, after 45.0 µs") }
    try tmux.type("q&publ")
    try tmux.press("Tab")
    try tmux.wait("the completion") { $0.contains("&PUBLISH") }
    try tmux.enter("and qos == 2")
    rows = try tmux.wait("what is chosen") { $0.contains("& PUBLISH and qos == 2") }
    #expect(rows[1...].filter { $0.contains("PUBLISH     plant") }.count == 2)
    #expect(rows[3] == "~")
    try tmux.type("q")
    try tmux.wait("the status") { $0.contains("status 0") && !$0.contains("PUBLISH     plant") }
    #expect(try tmux.ask("#{alternate_on} #{cursor_flag}") == "0 1")
  }

  @Test func goesFromAFindingToItsCause() throws {
    let scratch = Scratch()
    try scratch.write(Self.downgraded, to: "session.jsonl")
    let tmux = try Tmux()
    try tmux.enter("$reprise view \(scratch.file("session.jsonl"))")
    // A recording counts by its lines.
    try tmux.wait("the list") { $0.contains("1/13  frame 2  1 finding") }
    try tmux.type("]")
    let rows = try tmux.wait("the finding") { $0.contains("10/13  frame 11") }
    #expect(rows[10].hasPrefix(">!") && rows[9].hasPrefix("  "))
    try tmux.type("c")
    try tmux.wait("its cause") { $0.contains("9/13  frame 10") }
    try tmux.type("F")
    try tmux.wait("the findings") { $0.contains("delivered the message of frame 10") }
    try tmux.press("Enter")
    try tmux.wait("what was found") { $0.contains("rests on  frame 6, #1: SUBACK") }
    try tmux.type("y")
    try tmux.wait("the command") {
      $0.contains("copied: reprise view \(scratch.file("session.jsonl")) --at 11".prefix(79))
    }
    #expect(try tmux.ask("#{alternate_on}") == "1")
  }

  /// A session whose client is silent for longer than it said in its CONNECT.
  private static let silent = """
    {"reprise":1,"source":{"kind":"capture"},"redacted":[]}
    {"frame":4,"time":"2026-11-21T07:45:10Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"OPEN","client":"127.0.0.1:54429","server":"127.0.0.1:1883","fromStart":true,"firstFrame":1,"firstTime":"2026-11-21T07:45:10Z"}
    {"frame":4,"time":"2026-11-21T07:45:10Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"CONNECT","length":17,"clientID":"sub-1","cleanStart":true,"keepAlive":10}
    {"frame":5,"time":"2026-11-21T07:45:10.1Z","connection":1,"from":"server","protocol":"mqtt-3.1.1","type":"CONNACK","length":2,"sessionPresent":false,"returnCode":0}
    {"frame":6,"time":"2026-11-21T07:46:10Z","connection":1,"from":"client","protocol":"mqtt-3.1.1","type":"PINGREQ","length":0}
    {"frame":7,"time":"2026-11-21T07:46:10.1Z","connection":1,"from":"server","protocol":"mqtt-3.1.1","type":"PINGRESP","length":0}

    """

  /// In the frame of a CONNECT stands the beginning of its connection as well.
  @Test func goesToThePacketThatAFindingNames() throws {
    let scratch = Scratch()
    try scratch.write(CaptureFile.bytes(of: Array(Self.silent.utf8)), to: "session.pcap")
    let tmux = try Tmux()
    try tmux.enter("$reprise view --assume complete \(scratch.file("session.pcap"))")
    try tmux.wait("the list") { $0.contains("1/6  frame 4  2 findings") }
    try tmux.type("]")
    try tmux.wait("the finding") { $0.contains("4/6  frame 6") }
    try tmux.type("c")
    let rows = try tmux.wait("its cause") { $0.contains("/6  frame 4") }
    #expect(rows[0].hasSuffix("  2/6  frame 4  2 findings") && rows[2].hasPrefix(">"))
  }

  @Test func fitsTheTerminal() throws {
    let tmux = try Tmux()
    try tmux.enter("$reprise view \(Self.capture("qos-levels-v5"))")
    try tmux.wait("the list") { $0.contains("1/43  frame 4") }
    try tmux.press("Enter")
    try tmux.wait("details") { $0.contains("firstTime") }
    for (width, height) in [(120, 40), (40, 10), (20, 5), (80, 24)] {
      try tmux.resize(width, height)
      let rows = try tmux.wait("\(width) × \(height)") { text in
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard rows.count == height + 1, text.contains("1/43") else { return false }
        return rows[height - 1].hasPrefix(" q close")
          && rows[height - 1].contains("copy") == (width > 75)
      }
      #expect(rows[0].contains("1/43"))
      #expect(rows[height - 1].hasPrefix(" q close"))
    }
  }

  /// A row that is as wide as the terminal, or wider, is seen to its last column.
  @Test func paintsTheLastColumn() throws {
    let scratch = Scratch()
    let topic = String(repeating: "x", count: 200)
    let publish = SampleRecording.line(
      #""type":"PUBLISH","length":9,"qos":0,"retain":false,"dup":false,"topic":"\#(topic)","#
        + #""payload":{"utf8":"1"}"#)
    try scratch.write(
      "\(SampleRecording.header)\n\(SampleRecording.connect)\n\(publish)\n", to: "session.jsonl")
    let tmux = try Tmux(width: 60)
    try tmux.enter("$reprise view \(scratch.file("session.jsonl"))")
    let rows = try tmux.wait("the topic") { $0.contains("xxxx") }
    #expect(rows.filter { $0.contains("xxxx") }.map(\.count) == [60])
  }

  /// However it ends, modes and screen of the terminal are as before.
  @Test(arguments: [("TERM", 143), ("INT", 130), ("HUP", 129), ("SEGV", 139)])
  func givesTheTerminalBack(_ signal: String, _ status: Int) throws {
    let scratch = Scratch()
    let pid = scratch.file("pid")
    let tmux = try Tmux()
    try tmux.enter(
      "clear; stty -g > \(scratch.file("before")); bash -c 'echo $$ > \(pid); exec $reprise view "
        + "\(Self.capture("qos-levels-v5"))'; echo status $?; stty -g > \(scratch.file("after"))")
    try tmux.wait("the list") { $0.contains("1/43  frame 4") }
    #expect(try tmux.ask("#{alternate_on} #{cursor_flag}") == "1 0")
    _ = try RepriseProcess.shell("kill -\(signal) $(cat \(pid))")
    try tmux.wait("the status") { $0.contains("status \(status)") }
    #expect(try tmux.ask("#{alternate_on} #{cursor_flag}") == "0 1")
    try tmux.enter("echo over")
    try tmux.wait("the shell") { $0.contains("\nover") }
    #expect(try scratch.read("before") == scratch.read("after"))
    #expect(try scratch.read("before").count > 20)
  }

  @Test func suspendsAndGoesOn() throws {
    let tmux = try Tmux()
    try tmux.enter("$reprise view \(Self.capture("qos-levels-v5"))")
    try tmux.wait("the list") { $0.contains("1/43  frame 4") }
    try tmux.type("j")
    try tmux.wait("the second") { $0.contains("2/43") }
    try tmux.press("C-z")
    try tmux.wait("the shell") { $0.contains("Stopped") }
    #expect(try tmux.ask("#{alternate_on} #{cursor_flag}") == "0 1")
    try tmux.enter("fg")
    try tmux.wait("the list again") { $0.contains("2/43  frame 4") }
    #expect(try tmux.ask("#{alternate_on} #{cursor_flag}") == "1 0")
  }

  /// Keys come from the terminal where the session comes from a pipe, and it is seen as it grows.
  @Test func looksAtWhatComesThroughAPipe() throws {
    let scratch = Scratch()
    let lines = Self.downgraded.split(separator: "\n").map { "\($0)\n" }
    try scratch.write(lines[..<6].joined(), to: "first")
    try scratch.write(lines[6...].joined(), to: "rest")
    let tmux = try Tmux()
    try tmux.enter(
      "(cat \(scratch.file("first")); until [ -e \(scratch.file("go")) ]; do sleep 0.05; done; "
        + "cat \(scratch.file("rest"))) | $reprise view -")
    try tmux.wait("the start") { $0.contains("1/5  frame 2") && $0.contains("reading") }
    try tmux.type("G")
    try tmux.wait("its end") { $0.contains("5/5") }
    try scratch.write("", to: "go")
    try tmux.wait("the whole") {
      $0.contains("13/13  frame 14  1 finding") && !$0.contains("reading")
    }
  }

  /// A file that grows is seen as it does, also where a line is written in two parts.
  @Test func followsAFile() throws {
    let scratch = Scratch()
    let bytes = Array(Self.downgraded.utf8)
    let cut = bytes.count / 2
    let file = try scratch.write(Array(bytes[..<cut]), to: "session.jsonl")
    let tmux = try Tmux()
    // Its status is asked for in the same line: what is typed behind the q may still be the view's.
    try tmux.enter("$reprise view --follow \(file.path); echo status $?")
    try tmux.wait("the start") { $0.contains("reading, follows") && !$0.contains("1 finding") }
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(bytes[cut...]))
    try tmux.wait("the rest") { $0.contains("13/13  frame 14  reading, follows") }
    try tmux.type("q")
    try tmux.wait("the status") { $0.contains("status 0") }
  }

  @Test func followsNoFolder() throws {
    let tmux = try Tmux()
    try tmux.enter("$reprise view --follow /tmp; echo status $?")
    try tmux.wait("the status") {
      $0.contains("/tmp: it is no file that grows; leave --follow out") && $0.contains("status 2")
    }
  }

  /// Text of a file neither colours nor names the terminal, and marks of direction are shown by their numbers.
  @Test func isNotSteeredByWhatItShows() throws {
    let scratch = Scratch()
    let topic = #"\u001b]0;owned\u0007\u001b[2J\u202e\u009b31m中"#
    let publish = SampleRecording.line(
      #""type":"PUBLISH","length":9,"qos":0,"retain":false,"dup":false,"topic":"\#(topic)","#
        + #""payload":{"utf8":"1"}"#)
    try scratch.write(
      "\(SampleRecording.header)\n\(SampleRecording.connect)\n\(publish)\n", to: "session.jsonl")
    let tmux = try Tmux(width: 160, environment: ["NO_COLOR": "1"])
    let title = try tmux.ask("#{pane_title}")
    try tmux.enter("$reprise view \(scratch.file("session.jsonl"))")
    try tmux.wait("the topic") { $0.contains(#"\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}\u{9b}31m中"#) }
    try tmux.type("j")
    try tmux.press("Enter")
    try tmux.wait("details") { $0.contains("  topic ") }
    #expect(try tmux.ask("#{pane_title}") == title)
    let styled = try tmux.rows(hasStyles: true).joined()
    #expect(styled.contains("\u{1B}[7m"))
    // 39 is the colour of those that have none.
    #expect((31...36).allSatisfy { !styled.contains("\u{1B}[\($0)m") })
  }

  @Test func usesColorsWhereTheyAreWanted() throws {
    let tmux = try Tmux()
    try tmux.enter("$reprise view \(Self.capture("qos-levels-v5"))")
    try tmux.wait("the list") { $0.contains("1/43  frame 4") }
    #expect(try tmux.rows(hasStyles: true).joined().contains("\u{1B}[32mPUBLISH"))
  }

  @Test(arguments: ["", "TERM=dumb "])
  func tellsWhatToDoWithoutATerminal(_ setting: String) throws {
    let capture = Self.capture("qos-levels-v5")
    let message =
      "reprise: view needs a terminal; add --at FRAME, which needs none, or type reprise inspect\n"
    let scratch = Scratch()
    let log = scratch.file("log")
    if setting.isEmpty {
      let result = try RepriseProcess.shell("$reprise view \(capture)")
      #expect(result.status == 2 && result.output == "" && result.errors == message)
    } else {
      let tmux = try Tmux()
      try tmux.enter("\(setting)$reprise view \(capture) 2> \(log); echo status $?")
      try tmux.wait("the status") { $0.contains("status 2") }
      #expect(try scratch.read("log") == message)
    }
  }

  @Test func tellsWhatCanNotBeRead() throws {
    let tmux = try Tmux()
    try tmux.enter("$reprise view /nowhere.pcap; echo status $?")
    try tmux.wait("the status") {
      $0.contains("reprise: /nowhere.pcap: ") && $0.contains("status 2")
    }
    #expect(try tmux.ask("#{alternate_on} #{cursor_flag}") == "0 1")
  }
}
