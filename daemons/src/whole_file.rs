//! Small files that are replaced whole or not at all: whoever reads one after a crash finds the old text or the new.
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Writes `text` in the place of what `file` said, for its owner alone to read. A power cut soon after may still bring
/// the old text back.
///
/// # Errors
/// It cannot be written, and says what it said before.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    let new = new_beside(file);
    write(&new, text)?;
    fs::rename(new, file)
}

/// Writes `text` in the place of what `file` said, for its owner alone to read, and on the disk when this returns.
///
/// # Errors
/// It cannot be written, and says what it said before.
pub(crate) fn replace_on_disk(file: &Path, text: &str) -> io::Result<()> {
    let new = new_beside(file);
    write(&new, text)?.sync_all()?;
    fs::rename(new, file)
}

fn write(file: &Path, text: &str) -> io::Result<File> {
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    out.write_all(text.as_bytes())?;
    Ok(out)
}

fn new_beside(file: &Path) -> PathBuf {
    let mut new: OsString = file.as_os_str().to_owned();
    new.push(".new");
    new.into()
}

#[cfg(test)]
mod tests {
    use super::{replace, replace_on_disk};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_replaced_for_its_owner_alone_and_stays_as_it_was_where_nothing_can_be_written() {
        let folder = std::env::temp_dir().join(format!("prismux-whole-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("list");
        replace(&file, "one\n").unwrap();
        replace_on_disk(&file, "two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::create_dir(folder.join("list.new")).unwrap();
        assert!(replace(&file, "three\n").is_err() && replace_on_disk(&file, "three\n").is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
