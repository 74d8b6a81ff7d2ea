public import Foundation
public import Testing

/// Captures of others to compare with: in the folder that `REPRISE_CAPTURES` names, else in
/// `shared/captures` beside the checkout; never in the package.
public enum SharedCaptures {
  /// The folder that the environment names; what compares with its captures must then run.
  private static let named = ProcessInfo.processInfo.environment["REPRISE_CAPTURES"]

  /// The folder of all captures, found from where this file was compiled if none is named.
  public static let folder: URL = {
    if let named { return URL(filePath: named, relativeTo: PackageFolder.url) }
    return PackageFolder.url.deletingLastPathComponent().appending(path: "shared/captures")
  }()

  /// Whether the environment demands them.
  public static var areDemanded: Bool { named != nil }

  /// Whether what compares with them runs.
  public static var areCompared: Bool { areDemanded || !names.isEmpty }

  /// The names of all captures, relative to the folder; empty if there is no folder.
  public static let names = PackageFolder.files(in: folder.path)
    .filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }

  /// The path of a capture, or of what lies beside it.
  public static func path(_ name: String) -> String { folder.appending(path: name).path }

  /// The bytes of a capture.
  /// - Throws: What Foundation says of a file that can't be read.
  public static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }
}

extension Trait where Self == ConditionTrait {
  /// Of a test that compares with captures of others: it runs where they are, and says so where not.
  public static var capturesOfOthers: Self {
    .enabled(if: SharedCaptures.areCompared, "no captures of others to compare with")
  }
}
