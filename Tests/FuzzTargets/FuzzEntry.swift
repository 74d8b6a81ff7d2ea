#if FUZZER
  import Glibc

  /// The target of this process, named by the environment's `FUZZ_TARGET`.
  private let target: FuzzTarget = {
    guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name))
    else { fatalError("FUZZ_TARGET names none of \(FuzzTarget.allCases.map(\.rawValue))") }
    return target
  }()

  /// What libFuzzer calls with each input.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  }

  /// Writes the corpora of all targets and ends, when `FUZZ_CORPUS` names their folder: of the files whose paths
  /// stand in standard input.
  @_cdecl("LLVMFuzzerInitialize")
  public func initialize(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
  ) -> Int32 {
    guard let folder = getenv("FUZZ_CORPUS").map({ String(cString: $0) }) else { return 0 }
    var files: [[UInt8]] = []
    while let path = readLine() {
      guard let file = fopen(path, "r") else { continue }
      var bytes = [UInt8](repeating: 0, count: 1 << 20)
      let count = fread(&bytes, 1, bytes.count, file)
      fclose(file)
      files.append(Array(bytes.prefix(count)))
    }
    for target in FuzzTarget.allCases {
      mkdir("\(folder)/\(target.rawValue)", 0o777)
      for (index, input) in target.corpus(from: files).enumerated() {
        guard let file = fopen("\(folder)/\(target.rawValue)/seed-\(index)", "w") else { continue }
        fwrite(input, 1, input.count, file)
        fclose(file)
      }
    }
    exit(0)
  }
#endif
