//! Writes the seed corpus of every fuzz target below the folder given: `write_fuzz_seeds fuzz/seeds`.
use prismux_tests::fuzzing::TARGETS;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| "fuzz/seeds".to_string());
    for target in TARGETS {
        let folder = Path::new(&folder).join(target.name);
        fs::create_dir_all(&folder)?;
        for (index, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("{index:03}")), seed)?;
        }
    }
    Ok(())
}
