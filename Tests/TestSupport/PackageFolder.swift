public import Foundation

/// The folder of the package, found from where this file was compiled.
public enum PackageFolder {
  /// The folder.
  public static let url = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Its recordings.
  public static let recordings = url.appending(path: "Recordings")

  /// All that is in the folder of its recordings, relative to that, in the order of names.
  public static let recorded = files(in: recordings.path)

  /// The names of the folders of recordings that hold a capture.
  public static let captured = recorded.compactMap { path in
    let parts = path.split(separator: "/")
    return parts.count == 2 && parts[1] == "capture.pcap" ? String(parts[0]) : nil
  }.sorted()

  /// The path of the capture of a folder of recordings.
  /// - Parameter name: The folder's name.
  /// - Returns: The path.
  public static func capture(_ name: String) -> String { path("Recordings/\(name)/capture.pcap") }

  /// All files and folders below a folder, relative to it, in the order of names; none if there is no folder.
  /// - Parameter path: The folder.
  /// - Returns: Their paths.
  public static func files(in path: String) -> [String] {
    let paths = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String }
    return (paths ?? []).sorted()
  }

  /// The path of something in it.
  /// - Parameter name: It, relative to the folder.
  /// - Returns: The path.
  public static func path(_ name: String) -> String { url.appending(path: name).path }
}
