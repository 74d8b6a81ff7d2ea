import Foundation
import TestSupport
import Testing

/// The recipes for CI servers, each as far as it goes without one: its syntax, and its commands.
@Suite struct RecipeTests {
  private static let recipes = PackageFolder.url.appending(path: "Packaging/CI")
  private static let python = PackageFolder.url.appending(path: ".build/venv/bin")

  private let scratch = Scratch()

  init() throws {
    let (folder, manager) = (scratch.directory, FileManager.default)
    try manager.createSymbolicLink(
      at: folder.appending(path: "captures"),
      withDestinationURL: PackageFolder.recordings)
    try manager.createDirectory(
      at: folder.appending(path: "bin"), withIntermediateDirectories: false)
    try manager.createSymbolicLink(
      at: folder.appending(path: "bin/reprise"), withDestinationURL: RepriseProcess.executable)
  }

  private func run(_ program: URL, _ words: [String]) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = program
    process.arguments = words
    process.currentDirectoryURL = scratch.directory
    process.environment = [
      "PATH": scratch.directory.appending(path: "bin").path + ":/usr/local/bin:/usr/bin:/bin",
      "HOME": scratch.directory.path,
    ]
    let output = try scratch.write([], to: "told")
    let handle = try FileHandle(forWritingTo: output)
    process.standardOutput = handle
    process.standardError = handle
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, try scratch.read("told"))
  }

  private func carryOut(_ recipe: String) throws {
    let script = PackageFolder.path("Tests/CommandTests/Recipes/run.py")
    let result = try run(
      Self.python.appending(path: "python"), [script, Self.recipes.appending(path: recipe).path])
    #expect(result.status == 0, "\(result.text)")
  }

  /// The whole, as one run judges it.
  private func whole(_ format: String) throws -> String {
    try RepriseProcess.run(
      ["conform", "trace", "captures/", "--format", format], directory: scratch.directory
    ).output
  }

  @Test(arguments: ["github.yml", "gitlab.yml", "kubernetes.yaml", "slurm.sh", "parallel.sh"])
  func joinsToTheWhole(recipe: String) throws {
    try carryOut(recipe)
    #expect(try scratch.read("all.json") == whole("json"))
    let parts = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path)
      .filter { $0.hasPrefix("part-") }
    #expect(parts.count == 4)
  }

  /// Each shard of Bazel has its own report.
  @Test func judgesEachFileInOneShard() throws {
    try carryOut("bazel.sh")
    let reports = try (0..<4).map { try scratch.read("shard-\($0).xml") }
    #expect(reports.allSatisfy { $0.contains("<testsuite ") })
    let whole = try whole("junit")
    let failed = Set(whole.matches(of: /captures\/[\w\/.-]+ frame/).map(\.output))
    #expect(failed.count > 1)
    for file in failed { #expect(reports.count { $0.contains(file) } == 1, "\(file)") }
  }

  /// The schemas that GitHub's and GitLab's own editors use.
  @Test(arguments: [("github.yml", "github-workflows"), ("gitlab.yml", "gitlab-ci")])
  func fitsItsSchema(recipe: String, schema: String) throws {
    let program = Self.python.appending(path: "check-jsonschema")
    let words = ["--builtin-schema", "vendor.\(schema)"]
    let file = Self.recipes.appending(path: recipe)
    let result = try run(program, words + [file.path])
    #expect(result.status == 0, "\(result.text)")
    let bad = try String(contentsOf: file, encoding: .utf8)
      .replacing("matrix:", with: "matirx:").replacing("parallel: 4", with: "parallel: four")
    #expect(try run(program, words + [scratch.write(bad, to: "bad.yml").path]).status == 1)
  }
}
