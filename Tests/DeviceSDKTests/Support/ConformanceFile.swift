import DataClient
import Foundation

/// The files of the folder Conformance/sdk, as they stand beside the tests.
enum ConformanceFile {
  private static let folder: URL = {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.appending(path: "Conformance/sdk")
  }()

  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  /// Reads a file that is JSON.
  static func json(_ path: String) throws -> JSONValue {
    let bytes = Array(try Data(contentsOf: folder.appending(path: path)))
    guard let value = JSONValue(parsing: bytes) else {
      throw Wrong(description: "\(path) is no JSON")
    }
    return value
  }
}
