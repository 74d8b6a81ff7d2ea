import Foundation

/// An article's commands, carried out in their order in one shell, in a folder and a network of their own.
///
/// The folder is like this package's own, and has it as `reprise`, too, as the folder that a clone lies in. The network is made by `unshare`,
/// so that a broker gets the port that the article names; nothing that is started there outlives the shell.
struct ArticleRun {
  /// What became of a command.
  struct Outcome {
    var command: Command
    var status: Int32
    var output: String
  }

  private let article: Article
  private let blocks: [Article.Block]
  private let folder: URL
  private let steps: URL

  /// Makes the folder anew; what packages in it have built is kept, as it takes minutes.
  init(_ article: Article) throws {
    self.article = article
    blocks = try article.blocks()
    let work = Article.package.appending(path: ".build/documentation/articles/\(article.name)")
    folder = work.appending(path: "folder")
    steps = work.appending(path: "steps")
    let manager = FileManager.default
    try? manager.removeItem(at: steps)
    for part in ["steps/bin", "home", "folder"] {
      try manager.createDirectory(
        at: work.appending(path: part), withIntermediateDirectories: true)
    }
    try Self.empty(folder)
    for name in ["Conformance", "Recordings", "Sources", "Tests"] {
      try manager.createSymbolicLink(
        at: folder.appending(path: name), withDestinationURL: Article.package.appending(path: name))
    }
    try manager.createSymbolicLink(
      at: folder.appending(path: "reprise"), withDestinationURL: Article.package)
    try writeCommand(to: steps.appending(path: "bin/reprise"))
  }

  /// Removes all that no build made.
  private static func empty(_ folder: URL) throws {
    let manager = FileManager.default
    for name in try manager.contentsOfDirectory(atPath: folder.path) where name != ".build" {
      let inner = folder.appending(path: name)
      if manager.fileExists(atPath: inner.appending(path: ".build").path),
        try inner.resourceValues(forKeys: [.isSymbolicLinkKey]).isSymbolicLink != true
      {
        try empty(inner)
      } else {
        try manager.removeItem(at: inner)
      }
    }
  }

  /// The built command, with what `make sanitize` sets for it alone.
  private func writeCommand(to file: URL) throws {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "reprise")
    let inherited = ProcessInfo.processInfo.environment.filter { name, _ in
      name.hasSuffix("SAN_OPTIONS") || ["GLIBC_TUNABLES", "LD_PRELOAD"].contains(name)
    }
    let settings = inherited.map { "'\($0.key)=\($0.value)'" }.joined(separator: " ")
    let script = "#!/bin/bash\nexec env \(settings) '\(program.path)' \"$@\"\n"
    try script.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
  }

  /// Carries all of it out.
  /// - Returns: What became of each command.
  /// - Throws: ``Article/Failure`` when the shell did not come to its end.
  func outcomes() async throws -> [Outcome] {
    let (script, commands) = try writeSteps()
    let said = try await run(script)
    return try commands.enumerated().map { number, command in
      let step = steps.appending(path: "\(number)").path
      guard
        let status = (try? String(contentsOfFile: "\(step).status", encoding: .utf8))
          .flatMap({ Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
      else {
        throw Article.Failure(
          description:
            "\(article.name): '\(command.typed)' did not end, and the shell says: \(said)")
      }
      let output = try Data(contentsOf: URL(filePath: "\(step).output"))
      return Outcome(
        command: command, status: status, output: String(decoding: output, as: UTF8.self))
    }
  }

  /// Writes what the shell reads.
  /// - Returns: The script, and its commands in their order.
  private func writeSteps() throws -> (script: String, [Command]) {
    var script = "cd \(folder.path)\nlast=0\n"
    var commands: [Command] = []
    for (number, block) in blocks.enumerated() {
      switch block {
      case .snippet: continue
      case .file(let path, let text):
        let copy = steps.appending(path: "file-\(number)")
        try text.write(to: copy, atomically: true, encoding: .utf8)
        script += "mkdir -p \"$(dirname '\(path)')\"\ncp \(copy.path) '\(path)'\n"
      case .console(let block):
        for command in block {
          let step = steps.appending(path: "\(commands.count)")
          try command.typed.write(to: step, atomically: true, encoding: .utf8)
          // In the shell itself, so that cd and variables last, and with $? as the command before left it.
          script += "typed=$(<\(step.path))\n(exit $last)\n"
          script += "eval \"$typed\" >\(step.path).output 2>&1 </dev/null\n"
          script += "last=$?\necho $last >\(step.path).status\n"
          commands.append(command)
        }
      }
    }
    return (script, commands)
  }

  /// Runs a script in a network with nothing but a loopback, as a user who is not root.
  private func run(_ script: String) async throws -> String {
    let file = steps.appending(path: "script")
    try script.write(to: file, atomically: true, encoding: .utf8)
    let said = steps.appending(path: "said")
    try Data().write(to: said)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "timeout", "--kill-after=5", "1200", "unshare", "--map-root-user", "--net", "--mount",
      "--pid",
      "--fork", "--mount-proc", "--kill-child", "bash", "-euc",
      "ip link set lo up; exec unshare --user --map-user=1000 --map-group=1000 bash \"$0\"",
      file.path,
    ]
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    process.environment = [
      "PATH": "\(steps.path)/bin:\(path):/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      "HOME": steps.deletingLastPathComponent().appending(path: "home").path, "LANG": "C.UTF-8",
    ]
    process.standardInput = FileHandle.nullDevice
    let handle = try FileHandle(forWritingTo: said)
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    await withCheckedContinuation { continuation in
      Thread {
        process.waitUntilExit()
        continuation.resume()
      }.start()
    }
    return String(decoding: try Data(contentsOf: said), as: UTF8.self)
  }
}
