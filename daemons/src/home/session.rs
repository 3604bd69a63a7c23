//! The name of the gateway's session, kept in a file: a home that was killed and begins again registers in one round
//! trip less. It is no secret, and a wrong one costs what none does.
use crate::whole_file;
use std::path::PathBuf;

/// The session that the gateway was in last.
#[derive(Debug)]
pub(super) struct KnownSession {
    file: PathBuf,
    session: u64,
}

impl KnownSession {
    /// What `file` says; 0 without it.
    pub fn read(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        Self { session: text.trim().parse().unwrap_or_default(), file }
    }

    /// The session; 0 when none is known.
    pub const fn known(&self) -> u64 {
        self.session
    }

    /// The gateway is in this session.
    pub fn note(&mut self, session: u64) {
        if std::mem::replace(&mut self.session, session) != session
            && let Err(error) = whole_file::replace(&self.file, &format!("{session}\n"))
        {
            tracing::debug!(file = %self.file.display(), %error, "the gateway's session cannot be kept");
        }
    }
}

impl Drop for KnownSession {
    /// Whoever ends on purpose has taken leave.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::KnownSession;

    #[test]
    fn a_session_outlives_who_was_killed_and_nobody_else() {
        let file = std::env::temp_dir().join(format!("prismux-session-{}", std::process::id()));
        let mut first = KnownSession::read(file.clone());
        assert_eq!(first.known(), 0);
        first.note(u64::MAX);
        std::mem::forget(first);
        let second = KnownSession::read(file.clone());
        assert_eq!(second.known(), u64::MAX);
        drop(second);
        assert_eq!(KnownSession::read(file.clone()).known(), 0);
        std::fs::write(&file, "garbage").unwrap();
        assert_eq!(KnownSession::read(file).known(), 0);
    }
}
