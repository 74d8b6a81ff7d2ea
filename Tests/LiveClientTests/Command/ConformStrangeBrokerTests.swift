import Foundation
import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise conform broker`, with brokers that are none.
@Suite struct ConformStrangeBrokerTests: DrivesBrokers {
  let directory = Scratch()

  @Test(
    "A broker that sets a reserved bit is found, and one that does not is not", arguments: [0, 2])
  func faulty(flags: UInt8) async throws {
    let server = try StrangeBroker.server(flags: flags)
    let own = try write(
      "own", [#"{"client":"a","do":"connect"}"#, #"{"client":"a","do":"fence"}"#])
    let run = try await run(["mqtt://127.0.0.1:\(server.port)", "--case", own])
    #expect(run.status == (flags == 0 ? 0 : 1), "\(run.errors)")
    // 3.1.1 has no numbered statement on these bits.
    #expect(run.failed == (flags == 0 ? [] : ["mqtt-5.0/MQTT-3.2.2-1"]))
    let findings = run.report["clauses"]?.elements?.flatMap { $0["findings"]?.elements ?? [] } ?? []
    // Once by the question what it can do, once by the case.
    #expect(findings.count == (flags == 0 ? 0 : 2))
    #expect(
      Set(findings.compactMap { $0["file"]?.text })
        == (flags == 0 ? [] : ["abilities.v5.pcapng", "own.v5.pcapng"]))
  }

  @Test("What is accepted stays so in another run, of that case alone, until the broker is mended")
  func baseline() async throws {
    let steps = [#"{"client":"a","do":"connect"}"#, #"{"client":"a","do":"fence"}"#]
    let (one, other) = (try write("one", steps), try write("other", steps))
    let (faulty, mended) = (try StrangeBroker.server(flags: 2), try StrangeBroker.server())
    let file = directory.file("accepted.json")
    func run(_ server: ScriptedServer, _ cases: String, _ words: [String]) async throws -> DrivenRun
    {
      try await self.run(
        ["mqtt://127.0.0.1:\(server.port)", "--case", cases, "--spec", "mqtt-5.0"] + words)
    }
    #expect(try await run(faulty, one, ["--write-baseline", file]).status == 0)
    let again = try await run(faulty, one, ["--baseline", file])
    #expect(again.status == 0)
    #expect(again.clauses("accepted") == ["mqtt-5.0/MQTT-3.2.2-1"])
    #expect(again.remarks == [])
    let both = try await run(faulty, "\(one),\(other)", ["--baseline", file])
    #expect(both.status == 1)
    #expect(both.failed == ["mqtt-5.0/MQTT-3.2.2-1"])
    // What the broker says when it is asked what it can do is judged in each run.
    let fixed = try await run(mended, one, ["--baseline", file])
    #expect(fixed.status == 1)
    #expect(fixed.remarks == ["mended case abilities.v5", "mended case one.v5"])
    let elsewhere = try await run(mended, other, ["--baseline", file])
    #expect(elsewhere.remarks == ["mended case abilities.v5", "not-exercised case one.v5"])
  }

  @Test("A broker that does not answer one case costs that one its time, and no other")
  func deaf() async throws {
    let server = try StrangeBroker.server { body in
      String(decoding: body, as: UTF8.self).contains("deafone")
    }
    let silent = try write(
      "silent",
      [#"{"client":"a","do":"connect","clientID":"deafone"}"#, #"{"client":"a","do":"fence"}"#],
      #""seconds":1"#)
    let other = try write(
      "other", [#"{"client":"a","do":"connect"}"#, #"{"client":"a","do":"fence"}"#])
    let run = try await run(["mqtt://127.0.0.1:\(server.port)", "--case", "\(silent),\(other)"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.cases.filter { !$0.hasPrefix("abilities") }.sorted() == [
        "other mqtt-3.1.1 judged", "other mqtt-5.0 judged", "silent mqtt-3.1.1 inconclusive",
        "silent mqtt-5.0 inconclusive",
      ])
    #expect(run.reasons == Array(repeating: "it took longer than its 1 s", count: 2))
  }

  @Test("A connection that the broker ends before CONNECT is followed by another one")
  func reconnects() async throws {
    let server = try ScriptedServer { socket in
      // The first CONNECT of the case gets no answer but the end.
      var isFirst = true
      while let (first, body) = socket.readPacket(), first != 0xE0 {
        if isFirst, String(decoding: body, as: UTF8.self).contains("endedone") { return }
        isFirst = false
        socket.write(StrangeBroker.answer(first, body, flags: 0))
      }
    }
    let own = try write(
      "own",
      [
        #"{"client":"a","do":"connect","clientID":"endedone"}"#,
        #"{"client":"a","do":"open"}"#, #"{"client":"a","do":"reset"}"#,
        #"{"client":"a","do":"connect"}"#, #"{"client":"a","do":"connect"}"#,
        #"{"client":"a","do":"fence"}"#,
      ], #""versions":["5.0"]"#)
    let run = try await run(
      ["mqtt://127.0.0.1:\(server.port)", "--case", own, "--spec", "mqtt-5.0"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.cases == ["abilities mqtt-5.0 judged", "own mqtt-5.0 judged"])
    #expect(run.failed == [])
  }

  @Test("What our own clients do on purpose is held against nobody")
  func ownConduct() async throws {
    let broker = try await Broker()
    let own = try write(
      "own",
      [
        #"{"client":"a","do":"connect"}"#,
        // A SUBSCRIBE without its flag, which the server must close upon.
        #"{"client":"a","do":"bytes","hex":"80 06 00 01 00 01 61 00"}"#,
        #"{"client":"a","do":"fence"}"#,
      ], clauses: "mqtt-3.1.1/MQTT-2.2.2-2", #""versions":["3.1.1"]"#)
    let run = try await run([broker.url, "--case", own, "--spec", "mqtt-3.1.1"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.failed == [])
    #expect(run.verdict("MQTT-2.2.2-2", "mqtt-3.1.1") == "passed")
    // The clause that our packet breaks binds both; what our server sent kept it.
    #expect(run.verdict("MQTT-2.2.2-1", "mqtt-3.1.1") == "passed")
  }

  @Test(
    "A broker that takes a segment for a packet is found by cutting what is sent",
    arguments: [0, 1])
  func cuts(repetitions: Int) async throws {
    let server = try ScriptedServer { socket in
      try? startThread {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = recv(socket.number, &buffer, buffer.count, 0), count > 1,
          count == 2 + Int(buffer[1])
        {
          let packet = buffer.prefix(count)
          if packet[0] == 0xE0 { return }
          socket.write(StrangeBroker.answer(packet[0], Array(packet.dropFirst(2)), flags: 0))
        }
      }
    }
    let own = try write(
      "own", [#"{"client":"a","do":"connect"}"#, #"{"client":"a","do":"fence"}"#],
      #""versions":["5.0"]"#)
    let run = try await run(
      ["mqtt://127.0.0.1:\(server.port)", "--case", own, "--spec", "mqtt-5.0"]
        + (repetitions > 0 ? ["--chop", "\(repetitions)"] : []))
    #expect(run.status == (repetitions == 0 ? 0 : 1), "\(run.errors)")
    #expect(run.failed == [])
    #expect(
      run.cases == ["abilities mqtt-5.0 judged", "own mqtt-5.0 judged"]
        + (repetitions == 0 ? [] : ["own mqtt-5.0 changed"]))
    #expect(
      run.reasons
        == (repetitions == 0
          ? []
          : [
            "it kept nothing and violated nothing; when its bytes were not cut it kept MQTT-3.12.4-1 "
              + "and violated nothing"
          ]))
  }

  // MARK: What can't be done

  @Test("Whoever can't be driven is told what to do about it")
  func unable() async throws {
    let (socket, port) = try Socket.reserved()
    defer { socket.shut() }
    let gone = try await run(["mqtt://127.0.0.1:\(port)"])
    #expect(gone.status == 2)
    #expect(gone.errors.contains("can't be reached: "), "\(gone.errors)")
    try directory.write("a:\n", to: "passwords")
    let closed = try await Broker(["allow_anonymous false"])
    let refused = try await run([closed.url])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("add --username and --password-file"), "\(refused.errors)")
    let wrong = try write("wrong", [#"{"client":"a","do":"publish","qos":1}"#])
    for (words, message) in [
      (["mqtt://a", "--case", wrong], #"case wrong, step 1: the key "topic" is missing"#),
      ([], "no broker is named; type mqtt://HOST:PORT"),
      (["mqtt://a", "--launch", "b {port}"], "--launch starts the broker that the URL names too"),
      (["--launch", "mosquitto"], "does not say where {port} stands"),
      (["mqtt://a", "--case", "conect"], "no case is called conect; did you mean connect?"),
      (["mqtt://a", "--case", "./none.json"], "none.json"),
      (["mqtt://a", "--spec", "rfc6455"], "a broker is not driven by rfc6455"),
      (["mqtt://a", "--clause", "MQTT-9.9.9-9"], "MQTT-9.9.9-9"),
    ] {
      let run = try await run(words)
      #expect(run.status == 2)
      #expect(run.errors.contains(message), "\(words): \(run.errors)")
    }
  }
}
