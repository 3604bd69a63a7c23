//! Keys whose rights an operator has taken away, kept in a file: a daemon that starts again knows them.
use crate::daemon::DaemonError;
use crate::whole_file;
use prismux_sealed::PublicKey;
use std::io;
use std::path::{Path, PathBuf};

/// The keys, and whose they are.
#[derive(Debug)]
pub(crate) struct Revoked {
    file: PathBuf,
    keys: Vec<(String, PublicKey)>,
}

impl Revoked {
    /// What `file` says: lines of an owner and a key. Without the file nobody's rights are taken away; with one that
    /// cannot be understood nobody knows whose are, and that is an error.
    ///
    /// # Errors
    /// The file cannot be read, or has another line in it.
    pub fn read(file: PathBuf) -> io::Result<Self> {
        let text = match std::fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let key = |line: &str| {
            let (owner, key) = line.split_once(' ')?;
            Some((owner.to_owned(), key.parse().ok()?))
        };
        let wrong = |line: &str| {
            io::Error::new(io::ErrorKind::InvalidData, format!("expected an owner and a key, not \"{line}\""))
        };
        let keys = text.lines().map(|line| key(line).ok_or_else(|| wrong(line))).collect::<Result<_, _>>()?;
        Ok(Self { file, keys })
    }

    /// The list of a daemon with this file of accounts, beside which it lies.
    ///
    /// # Errors
    /// The list cannot be read, or has another line in it: nobody must be let in then.
    pub fn of_daemon(accounts_file: &Path) -> Result<Self, DaemonError> {
        let file = accounts_file.with_extension("revoked");
        let shown = file.display().to_string();
        Self::read(file).map_err(|error| DaemonError::Config(format!("{shown}: {error}")))
    }

    /// Where they are kept.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the rights of a key have been taken away.
    pub fn has(&self, key: &PublicKey) -> bool {
        self.keys.iter().any(|(_, revoked)| revoked == key)
    }

    /// Whose rights have been taken away, each once.
    pub fn owners(&self) -> Vec<&str> {
        let mut owners: Vec<&str> = self.keys.iter().map(|(owner, _)| owner.as_str()).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Takes the rights of keys away, which holds whether or not it can be written.
    ///
    /// # Errors
    /// The file cannot be written: after a restart they have their rights again.
    pub fn add(&mut self, owner: &str, keys: impl Iterator<Item = PublicKey>) -> io::Result<()> {
        for key in keys {
            if !self.has(&key) {
                self.keys.push((owner.to_owned(), key));
            }
        }
        self.write()
    }

    /// Gives an owner's rights back, if that can be written; false when they were not taken away.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remove(&mut self, owner: &str) -> io::Result<bool> {
        let before = self.keys.clone();
        self.keys.retain(|(revoked, _)| revoked != owner);
        let is_change = self.keys.len() < before.len();
        if is_change && let Err(error) = self.write() {
            self.keys = before;
            return Err(error);
        }
        Ok(is_change)
    }

    /// Whole or not at all, and on the disk before anybody is told.
    fn write(&self) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let lines: String = self.keys.iter().map(|(owner, key)| format!("{owner} {key}\n")).collect();
        whole_file::replace_on_disk(&self.file, &lines)
    }
}

#[cfg(test)]
mod tests {
    use super::Revoked;
    use prismux_sealed::{Entropy, KeyPair, PublicKey};

    fn key(seed: u8) -> PublicKey {
        KeyPair::generate(&mut Entropy::from_seed([seed; 32])).public()
    }

    #[test]
    fn what_is_revoked_is_known_again_and_nonsense_is_no_empty_list() {
        let file = std::env::temp_dir().join(format!("prismux-{}.revoked", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let mut revoked = Revoked::read(file.clone()).unwrap();
        revoked.add("house", [key(1), key(2)].into_iter()).unwrap();
        revoked.add("flat", [key(3)].into_iter()).unwrap();
        revoked.add("house", [key(1)].into_iter()).unwrap();
        let mut again = Revoked::read(file.clone()).unwrap();
        assert_eq!(again.owners(), ["flat", "house"]);
        assert_eq!([1, 2, 3, 4].map(|seed| again.has(&key(seed))), [true, true, true, false]);
        assert!(again.remove("house").unwrap() && !again.remove("house").unwrap());
        assert_eq!(Revoked::read(file.clone()).unwrap().owners(), ["flat"]);
        std::fs::write(&file, "flat\n").unwrap();
        assert!(Revoked::read(file.clone()).is_err());
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn rights_are_gone_though_nothing_can_be_written_and_come_back_only_if_it_can() {
        let mut revoked = Revoked::read("/proc/prismux/none.revoked".into()).unwrap();
        assert!(revoked.add("house", [key(1)].into_iter()).is_err());
        assert!(revoked.remove("house").is_err() && revoked.has(&key(1)));
    }
}
