//! What `prismux up` is to do here, by the one key that says it.
use super::file::{Checked, ConfigError, parse, read};
use super::gateway::GatewayConfig;
use super::home::HomeConfig;
use serde::Deserialize;
use std::path::Path;

/// What a host is, by its file.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// One box with several uplinks.
    Home(Box<HomeConfig>),
    /// A server on which the traffic of homes meets the internet.
    Gateway(Box<GatewayConfig>),
}

/// The one key that says what all others are.
#[derive(Deserialize)]
struct RoleKey {
    role: String,
}

impl Checked for RoleKey {
    fn check(&self) -> Result<(), (&'static str, String)> {
        match self.role.as_str() {
            "home" | "gateway" => Ok(()),
            other => Err(("role", format!("\"{other}\" is none, expected \"home\" or \"gateway\""))),
        }
    }
}

impl Role {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`ConfigError`]: where the first mistake is, and what was expected.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = read(file)?;
        let key: RoleKey = parse(file, &text)?;
        match key.role.as_str() {
            "home" => HomeConfig::from_text(file, &text).map(Box::new).map(Self::Home),
            _ => GatewayConfig::from_text(file, &text).map(Box::new).map(Self::Gateway),
        }
    }

    /// With so many workers, whatever the file says; `None` leaves it as it is.
    #[must_use]
    pub fn with_workers(mut self, workers: Option<usize>) -> Self {
        let of_file = match &mut self {
            Self::Home(config) => &mut config.workers,
            Self::Gateway(config) => &mut config.workers,
        };
        *of_file = workers.unwrap_or(*of_file);
        self
    }

    /// Where `prismux status` asks.
    pub fn status_socket(&self) -> &Path {
        match self {
            Self::Home(config) => &config.status_socket,
            Self::Gateway(config) => &config.status_socket,
        }
    }
}
