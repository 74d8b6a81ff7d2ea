import Driver
import Glibc
import LiveClient
import RepriseCore

/// Where a client under test connects to: a port of each case's own, or one for all, with the certificates of the run.
final class ServedPlace {
  let place: ClientPlace
  /// Holds the certificate authority of the run; nil where there is none.
  private let folder: TemporaryFolder?

  /// What a command has to have a place for, and how it looks then.
  enum Need {
    case broker, webSocket

    fileprivate var name: String { self == .broker ? "port" : "url" }
    fileprivate var example: String {
      self == .broker ? "mosquitto_sub -p {port} -t a/#" : "python echo.py {url}"
    }
  }

  /// Listens where that is asked for, and makes what TLS is answered by.
  /// - Parameters:
  ///   - need: What is to be connected to.
  ///   - commands: What starts the client; none where it connects by itself.
  ///   - arguments: What was typed.
  ///   - console: How to tell the user; nil tells nothing.
  /// - Throws: ``UsageError``, or ``DataClientError`` where nothing can be listened on or no certificate be made.
  init(
    _ need: Need, for commands: [ClientCommand], _ arguments: Arguments, tells console: Console?
  ) throws {
    let listening = arguments.value(ConformClientCommand.listen)
    guard commands.isEmpty != (listening == nil) else {
      throw UsageError(
        listening == nil
          ? "no client is named" : "--listen is for clients that connect by themselves",
        "type -- COMMAND with {\(need.name)} in it, or --listen HOST:PORT")
    }
    for command in commands where !command.has("port") && !command.has("url") {
      throw UsageError(
        "'\(command.text)' does not say where {\(need.name)} stands",
        "type such as -- \(need.example)")
    }
    folder = commands.contains { $0.has("ca") } ? try TemporaryFolder() : nil
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
    if let listening { console?.note(listening, "waits for the client") }
  }

  private static func listener(_ text: String) throws -> TCPSocket {
    // A port of 0 is one that the system chooses, which no URL has.
    let isAny = text == "0" || text.hasSuffix(":0")
    let host = isAny ? "\(text.dropLast(text == "0" ? 1 : 2))" : text
    let place = UInt16(host) == nil ? (host.isEmpty ? "localhost" : host) : "localhost:\(host)"
    guard let url = try? BrokerURL("mqtt://\(place)"), url.path == nil else {
      throw UsageError(
        "'\(text)' is no place to listen on", "type HOST:PORT, or a port alone for localhost")
    }
    for address in try TCPAddress.resolve(url.host, port: isAny ? 0 : url.port) {
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
