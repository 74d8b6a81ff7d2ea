import Capture
import Glibc
import Wire

/// A folder that stands for the captures and recordings in it, and in the folders in it.
enum SessionFolder {
  /// What the names of recordings end in.
  private static let recordings = [".jsonl", ".jsonl.gz"]

  /// Whether a path names a folder.
  static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

  /// Puts the files of folders in their places.
  /// - Parameters:
  ///   - paths: Files and folders, as they were typed.
  ///   - console: How to tell what in them is left out.
  ///   - isOwn: Whether they are a project's own folder, where other files have their place.
  /// - Returns: Files only.
  /// - Throws: ``UsageError`` for a folder with nothing to read.
  static func expand(
    _ paths: [String], _ console: Console, isOwn: Bool = false
  ) throws(UsageError) -> [String] {
    var files: [String] = []
    for path in paths {
      guard path != "-", isFolder(path) else {
        files.append(path)
        continue
      }
      let (below, unreachable) = below(path)
      if let first = unreachable.first {
        let what = "the names are no UTF-8: rename them"
        console.note(
          path,
          unreachable.count == 1
            ? "\(first) is left out: its name is no UTF-8; rename it"
            : "\(unreachable.count) files are left out, such as \(first), as \(what)")
      }
      let all = below.map { (path: $0, isSession: isSession($0)) }
      let sessions = all.filter(\.isSession).map(\.path)
      guard !sessions.isEmpty else {
        throw UsageError(
          "\(path): no capture and no recording is in this folder", "name files, or another folder")
      }
      let others = all.filter { !$0.isSession }.map(\.path)
      if let first = others.first, !isOwn {
        console.note(
          path,
          others.count == 1
            ? "\(first) is left out: it is neither a capture nor a recording"
            : "\(others.count) files are left out that are neither captures nor recordings, such as \(first)"
        )
      }
      files += sessions
    }
    return files
  }

  /// The recordings and captures that lie in a folder itself, in the order of their names.
  static func sessions(in folder: String) -> [String] {
    (names(in: folder) ?? []).map { path(folder, $0) }
      .filter { kind($0) == S_IFREG && isSession($0) }
  }

  /// The files in a folder and in those in it, in the order of their paths, without hidden ones.
  ///
  /// A folder that a link leads to is not looked into: it may be one of those above. One that can't be read stands for
  /// its files, so that it is told.
  /// - Parameter folder: The folder.
  /// - Returns: The files, and what is there under a name that can't be written, as nearly as it can.
  private static func below(_ folder: String) -> (files: [String], unreachable: [String]) {
    var files: [String] = []
    var unreachable: [String] = []
    var folders = [folder]
    while let next = folders.popLast() {
      guard let names = names(in: next) else {
        files.append(next)
        continue
      }
      for name in names {
        let path = path(next, name)
        switch kind(path, followingLinks: false) {
        case S_IFDIR: folders.append(path)
        case nil: unreachable.append(path)
        default: if kind(path) == S_IFREG { files.append(path) }
        }
      }
    }
    return (files.sorted(), unreachable.sorted())
  }

  /// Whether a file is a capture by its first bytes, or a recording by its name and its first bytes.
  ///
  /// Any JSON begins as a recording does. What can't be read is taken for one, so that it is told.
  private static func isSession(_ path: String) -> Bool {
    guard var source = try? ByteSource(path: path) else { return true }
    let isNamed = recordings.contains { path.hasSuffix($0) }
    guard let format = try? CaptureFormat.detect(in: &source) else { return isNamed }
    guard format == .recording else { return true }
    // A recording begins with its header or an event, unless it was cut there; lines of JSON are kept by others, too.
    let head = String(copying: source.peek(4_096))
    guard let end = head.firstIndex(of: "\n") else { return isNamed }
    return isNamed && ["\"reprise\"", "\"connection\""].contains(where: head[..<end].contains)
  }

  private static func path(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// What kind of file is at a path; nil where there is none.
  private static func kind(_ path: String, followingLinks: Bool = true) -> mode_t? {
    var status = stat()
    let result = followingLinks ? stat(path, &status) : lstat(path, &status)
    return result == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The names in a folder in order, without hidden ones; nil where it can't be read.
  private static func names(in folder: String) -> [String]? {
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
          String(cString: $0)
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}
