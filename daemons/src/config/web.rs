//! Where a daemon answers over HTTP, and whom.
use super::keys::read_secret;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Fewer characters of a password can be guessed.
const MIN_PASSWORD_BYTES: usize = 12;

/// What a daemon's file says about HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebConfig {
    /// Where Prometheus reads metrics: a loopback address.
    pub metrics: Option<SocketAddr>,
    /// Where the page is. May be the address of the metrics too.
    pub page: Option<SocketAddr>,
    /// The file with the page's password, which nobody else may read; needed where the page is open to others.
    pub page_password_file: Option<PathBuf>,
}

impl WebConfig {
    /// The first thing that makes no sense: the key at fault and what was expected of it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        // Whoever reads metrics elsewhere has to be let in by something that knows who may.
        if let Some(address) = self.metrics.filter(|address| !address.ip().is_loopback()) {
            let expected =
                format!("{address} is open to others, expected a loopback address such as 127.0.0.1:9586");
            return Err(("metrics", expected));
        }
        if let Some(address) = self.page.filter(|address| !address.ip().is_loopback())
            && self.page_password_file.is_none()
        {
            let expected = format!(
                "{address} is open to others: give page_password_file too, or a loopback address such as \
                 127.0.0.1:9587"
            );
            return Err(("page", expected));
        }
        self.read_password().map(drop).map_err(|message| ("page_password_file", message))
    }

    /// The page's password, if it has one.
    ///
    /// # Errors
    /// When the file cannot be read or is open to others, or the password is too short; the message names the remedy.
    pub fn read_password(&self) -> Result<Option<String>, String> {
        let Some(file) = &self.page_password_file else { return Ok(None) };
        let password = read_secret(file)?.trim().to_owned();
        if password.len() < MIN_PASSWORD_BYTES {
            let shown = file.display();
            return Err(format!(
                "the password in {shown} is too short: at least {MIN_PASSWORD_BYTES} bytes. Make one: \
                 head -c 24 /dev/urandom | base64"
            ));
        }
        Ok(Some(password))
    }
}
