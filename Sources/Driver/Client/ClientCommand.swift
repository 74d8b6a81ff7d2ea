import RepriseCore

/// What starts a client under test, with places such as `{port}` in it.
package struct ClientCommand: Sendable, Hashable {
  /// What a command is for.
  package enum Role: String, Sendable, Hashable, CaseIterable {
    /// It does what it does, which is found out.
    case any
    /// It publishes.
    case publishes
    /// It subscribes.
    case subscribes
  }

  /// What it is for.
  let role: Role
  private let words: [String]

  /// Creates a command of words, the first of which is the program.
  /// - Parameters:
  ///   - words: The words.
  ///   - role: What it is for.
  package init(words: [String], _ role: Role) { (self.words, self.role) = (words, role) }

  /// Creates a command that a shell reads.
  /// - Parameters:
  ///   - text: The text.
  ///   - role: What it is for.
  package init(shell text: String, _ role: Role) {
    self.init(words: CommandProcess.words(of: text), role)
  }

  /// Whether a place is in it.
  /// - Parameter place: Its name, without braces.
  /// - Returns: Whether it is.
  package func has(_ place: String) -> Bool { words.contains { $0.contains("{\(place)}") } }

  /// How it was written, for people.
  package var text: String {
    words.first == "/bin/sh"
      ? (words.last ?? "").replacing("exec ", with: "", maxReplacements: 1)
      : words.joined(separator: " ")
  }

  /// The words for a server, with its address in their places.
  /// - Parameters:
  ///   - place: Where clients find it.
  ///   - port: At which port.
  ///   - scheme: That of its URL.
  ///   - path: What stands behind the port in its URL.
  ///   - value: What stands for places of other names; nil where nothing does.
  /// - Returns: The program and its arguments.
  func filled(
    at place: ClientPlace, _ port: UInt16, scheme: String, path: String = "",
    _ value: (String) -> String? = { _ in nil }
  ) -> [String] {
    words.map { word in
      let filled = CaseTemplate.fill(.string(word)) { name in
        let text: String? =
          switch name {
          case "port": "\(port)"
          case "host": ClientPlace.host
          case "url": "\(scheme)://\(ClientPlace.host):\(port)\(path)"
          case "ca": place.authority
          default: value(String(name))
          }
        return text.map { .string($0) }
      }
      return filled.text ?? word
    }
  }
}
