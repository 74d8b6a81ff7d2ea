import Glibc
import TestSupport
import Testing

extension Scratch {
  /// What the system says of a file; nil if there is none.
  func status(of name: String) -> stat? {
    var status = stat()
    return stat(file(name), &status) == 0 ? status : nil
  }

  /// How many bytes a file has; 0 if there is none.
  func size(of name: String) -> Int { status(of: name).map { Int($0.st_size) } ?? 0 }

  /// Who may do what with a file; nil if there is none.
  func mode(of name: String) -> mode_t? { status(of: name).map { $0.st_mode & 0o777 } }

  /// What `tshark` reads of a file.
  func tshark(_ words: [String], _ name: String = "a.pcapng") async throws -> String {
    // To those with all rights it says something else as well.
    let child = try Child(["tshark", "-n", "-r", file(name)] + words, errorsApart: true)
    #expect(await child.wait() == 0, "\(child.errors)")
    return child.text
  }
}

extension String {
  /// The lines of packets, without what differs from run to run: the times.
  var withoutTimes: [String] {
    split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.drop { $0 != " " }) }
  }
}
