import Foundation

/// The recordings of this package, found from where this file was compiled.
enum Recordings {
  static let folder: URL = {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.appending(path: "Recordings")
  }()

  /// The names of the folders that hold a capture.
  static let names: [String] = {
    let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (entries ?? []).filter { FileManager.default.fileExists(atPath: path($0)) }.sorted()
  }()

  static func path(_ name: String) -> String {
    folder.appending(path: "\(name)/capture.pcap").path
  }
}
