import Driver
import Glibc
import LiveClient
import RepriseCore
import Synchronization
import Wire

/// One run of cases against a client: what starts it, or where it connects to, and how far it has come.
final class ClientSession {
  private let commands: [ClientCommand]
  private let place: ClientPlace
  private let rate: Int?
  private let console: Console
  /// Holds the certificate authority of the run; nil where there is none.
  private let folder: TemporaryFolder?
  /// Whether the user ended it before all cases were run.
  private(set) var isCutShort = false

  /// Reads what starts the client, or listens for it.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - console: How to tell the user.
  /// - Throws: ``UsageError``, or ``DataClientError`` where nothing can be listened on or no certificate be made.
  init(_ arguments: Arguments, _ console: Console) throws {
    self.console = console
    rate = try arguments.count(DriveOptions.rate)
    commands = Self.commands(arguments)
    let listening = arguments.value(ConformClientCommand.listen)
    guard commands.isEmpty != (listening == nil) else {
      throw UsageError(
        listening == nil
          ? "no client is named" : "--listen is for clients that connect by themselves",
        "type -- COMMAND with {port} in it, or --listen HOST:PORT")
    }
    for command in commands where !command.has("port") && !command.has("url") {
      throw UsageError(
        "'\(command.text)' does not say where {port} stands",
        "type such as -- mosquitto_sub -p {port} -t a/#")
    }
    let isSecure = commands.contains { $0.has("ca") }
    folder = isSecure ? try TemporaryFolder() : nil
    let kept = arguments.value(ProxySettings.authorityFolder)
    guard kept == nil || listening != nil else {
      throw UsageError(
        "--ca-folder is for --listen", "type {ca} in the command, for an authority of the run's own"
      )
    }
    let authority = try (folder?.path ?? kept).map { (path: String) in
      try CertificateAuthority(in: path)
    }
    place = ClientPlace(
      listener: try listening.map { (text: String) in try Self.listener(text) },
      security: try authority.map { (one: CertificateAuthority) in try TLSServerContext(one) },
      authority: folder.map { "\($0.path)/\(CertificateAuthority.certificateName)" })
    // A client that is started now finds it.
    if let listening { console.note(listening, "waits for the client") }
  }

  private static func commands(_ arguments: Arguments) -> [ClientCommand] {
    let roles: [(OptionSpec, ClientCommand.Role)] = [
      (ConformClientCommand.publishes, .publishes), (ConformClientCommand.subscribes, .subscribes),
    ]
    let typed =
      arguments.operands.isEmpty ? [] : [ClientCommand(words: arguments.operands, .any)]
    return typed
      + roles.compactMap { option, role in
        arguments.value(option).map { ClientCommand(shell: $0, role) }
      }
  }

  private static func listener(_ text: String) throws -> TCPSocket {
    guard let url = try? BrokerURL("mqtt://\(UInt16(text) == nil ? text : "localhost:\(text)")"),
      url.path == nil
    else {
      throw UsageError(
        "'\(text)' is no place to listen on", "type HOST:PORT, or a port alone for localhost")
    }
    for address in try TCPAddress.resolve(url.host, port: url.port) {
      do throws(DataClientError) {
        if let socket = try TCPSocket.listening(at: address) { return socket }
      } catch {
        throw UsageError(
          "\(text) can't be listened on: \(error.message)",
          "type another port, or end what has this one")
      }
    }
    throw UsageError("\(text) is no address of this computer", "type one that is")
  }

  /// Runs cases.
  /// - Parameters:
  ///   - plans: What is run.
  ///   - versions: The versions that are asked for.
  /// - Returns: What came of it, and the standards to judge it by.
  /// - Throws: ``DriverError`` where the client can't be driven at all.
  func run(
    _ plans: [CasePlan], in versions: Set<MQTTVersion>
  ) throws -> (results: [CaseResult], specs: Set<String>) {
    let line = StatusLine(console)
    defer { line.clear() }
    // What was started is ended, which takes its time.
    Interruption.grace.store(10, ordering: .relaxed)
    var driver = ClientDriver(
      commands, at: place, run: DriveOptions.runName,
      application: "reprise \(Reprise.version)", rate: rate)
    let isStopped = { Interruption.status != nil }
    var results = try driver.meet(versions, isStopped: isStopped)
    let spoken = driver.versions
    let possible = plans.filter { $0.version.map(spoken.contains) ?? true }
    results += driver.run(possible, isStopped: isStopped) { done in
      line.draw("\(done) of \(possible.count) cases")
    }
    isCutShort = isStopped()
    line.clear()
    try Interruption.check()
    let specs = spoken.map(\.standard) + (driver.usesWebSocket ? ["rfc6455"] : [])
    return (results, Set(specs))
  }
}

/// A folder that is gone with the run.
private final class TemporaryFolder {
  let path: String

  init() throws(UsageError) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/reprise-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw UsageError(
        "no folder can be made in \(parent): \(systemText(errno).lowercased())",
        "name another one by TMPDIR")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names() { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  private func names() -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
