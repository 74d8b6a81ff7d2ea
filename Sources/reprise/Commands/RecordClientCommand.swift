import LiveClient
import RepriseCore

/// `reprise record client`: records what an MQTT client that subscribes does and gets.
enum RecordClientCommand: Command {
  static let spec = CommandSpec(
    name: "record client", summary: "Records the messages of a broker, or of a WebSocket.",
    operands: "URL", operandCount: 1...1,
    options: RecordSettings.options + BrokerOptions.all + [BrokerOptions.header],
    details: """
      URL is mqtt://HOST or mqtts://HOST (TLS), with a port if it is not 1883 or 8883, and
      with USER@ in front of the host if there is one. With ws://HOST/PATH or wss:// it is MQTT
      over WebSocket; without --topic the WebSocket's own messages are recorded, text and
      binary, and USER and password belong to its handshake.

      The recording is complete to its last line at any moment, also when the command is
      killed. It is created when the broker accepts the connection, and only you may read it.
      A lost connection is opened again, after 1, 2, 4 ... 60 seconds, in the same recording;
      what was sent meanwhile is not in it. It has what a client sees: no PINGREQ. Of a
      WebSocket it has the messages; the headers of its handshake, keys and masks are made
      up.

      With --rotate -o day.jsonl the files are called day-0001.jsonl, day-0002.jsonl and
      so on; numbers that exist are passed over, or replaced with --force. Each file can be
      read alone.

      With --share several recorders get one stream, each message once: by a shared
      subscription (MQTT 5.0 section 4.8.2), which many brokers know for MQTT 3.1.1, too.
      Retained messages do not come by it. What a recorder has not written when it is killed
      comes again only if the broker gives it to another.

      Rules of --redact, to be repeated:
        topic:FILTER   hides the payloads on topics that match
        key:NAME       hides the values that have this name, in JSON, in pairs such as
                       NAME=value, in headers and in user properties
        username       hides the user name
        correlation    hides the correlation data of MQTT 5.0
      Passwords, and what is named like passwords, tokens and signatures in any text, are
      hidden in any case, unless --show-secrets is given.

      With --psk-identity and --psk the key that both ends have makes certificates needless, as
      devices use it. The command hides the key from the list of processes; the history of a
      shell may keep it.

      The secrets of TLS go to the file that SSLKEYLOGFILE names, if it does; they are never in
      a recording. By them inspect --keylog reads a capture of the connection.

      Status: 0 when --duration, --count or --max-size ended it, 2 when there was no
      connection or nothing more could be written, 130 interrupted, 143 terminated.

      Examples:
        reprise record client mqtt://localhost --topic '#' -o session.jsonl
        reprise record client mqtts://user@host --password-file secret --topic 'plant/#' \\
          --topic '$SYS/#' --duration 10m --max-size 50M --rotate -o day.jsonl
        reprise record client mqtts://broker --psk-identity device --psk 0a1b2c \\
          --topic '#' -o session.jsonl
        reprise record client mqtt://localhost --topic '#' -o - | reprise inspect -
        reprise record client mqtt://broker --topic 'plant/#' --share fleet -o 1.jsonl
        reprise record client ws://localhost:9001/mqtt --topic '#' -o session.jsonl
        reprise record client wss://host/api --header 'X-Key: 7' --count 100 -o session.jsonl
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    // Whether topics are needed is asked of a URL only that makes sense.
    let url = try BrokerOptions.url(arguments.operand)
    let settings = try RecordSettings(arguments, isWebSocket: url.path != nil)
    let broker = try BrokerOptions(
      arguments.operand, arguments, console, clientID: RecordSettings.makeClientID())
    let file = try RecordingFile(
      settings.path, isNumbered: settings.rotates, replaces: settings.replaces)
    let status = RecordingStatus(
      broker, file, named: settings.path, duration: settings.duration, console)
    let recorder = try recorder(settings, broker, file, status)
    do {
      let result = try await record(by: recorder, broker, console, status)
      try file.close()
      status.summarise(messages: recorder.messages)
      return result
    } catch let interrupted as Interrupted {
      try file.close()
      status.summarise(messages: recorder.messages)
      throw interrupted
    } catch {
      status.clear()
      // The client wraps what the file said.
      throw file.failure ?? error
    }
  }

  private static func recorder(
    _ settings: RecordSettings, _ broker: BrokerOptions, _ file: RecordingFile,
    _ status: RecordingStatus
  ) throws -> Recorder<BrokerClient, RecordingFile> {
    let goOn: @Sendable (RecordingFile) throws -> RecordingFile = { file in
      try file.startNext()
      return file
    }
    let client = try settings.recordsFrames ? broker.makeFramesClient() : broker.makeClient()
    let recording = try RecordingClient(
      client, to: file, url: broker.url.address,
      version: settings.recordsFrames ? nil : broker.wireVersion,
      redaction: settings.redaction, limit: settings.limit,
      nextSink: settings.rotates ? goOn : nil)
    return Recorder(
      client, recording: recording, plan: settings.plan(broker.connect),
      progressEvery: status.isShown ? .milliseconds(500) : nil,
      tell: { try status.take($0) })
  }

  private static func record(
    by recorder: Recorder<BrokerClient, RecordingFile>, _ broker: BrokerOptions,
    _ console: Console, _ status: RecordingStatus
  ) async throws -> ExitStatus {
    do {
      let end = try await Interruption.cancel { try await recorder.run() }
      try await recorder.close(after: end)
      return .done
    } catch let interrupted as Interrupted {
      try await recorder.close(after: nil)
      throw interrupted
    } catch let error as RecorderError {
      try await recorder.close(after: .world)
      status.clear()
      console.error(line(error, broker))
      return .unable
    } catch {
      // The broker is told even so; that this fails too is nothing new.
      try? await recorder.close(after: .size)
      throw error
    }
  }

  private static func line(_ error: RecorderError, _ broker: BrokerOptions) -> String {
    switch error {
    case .notConnected(let reason): Advice.line(reason, broker)
    case .lost(let reason):
      "\(broker.url): the connection was lost: \(Advice.reason(reason)); "
        + "the recording is complete up to then"
    case .notSubscribed(let filter):
      "\(broker.url): the broker does not let this user subscribe to \(filter); "
        + "name another --topic, or ask for the right to it"
    }
  }
}
