//! Structured logs on standard error.
mod otlp;

use std::fmt;
use std::str::FromStr;
use tracing::level_filters::LevelFilter;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people: time, level, message, fields.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// One OTLP request per line, as OpenTelemetry's collector reads files of logs.
    Otlp,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLevel(LevelFilter);

impl Default for LogLevel {
    fn default() -> Self {
        Self(LevelFilter::INFO)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for LogLevel {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let error =
            |_| format!("\"{text}\" is no log level, expected off, error, warn, info, debug or trace");
        text.parse().map(Self).map_err(error)
    }
}

/// Starts logging for the whole process; a second call does nothing.
pub fn init(format: LogFormat, level: LogLevel) {
    let builder =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level.0).with_target(false);
    let _ = match format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Otlp => builder.event_format(otlp::Lines).try_init(),
    };
}
