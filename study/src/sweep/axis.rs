//! What a sweep varies: a path of the scenario and its values.

use prismux_units::{ByteCount, Duration, Rate};
use std::fmt;

/// Most values of an axis.
const MAX_VALUES: usize = 1_000_000;

/// One setting and the values it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Dotted path, `links.wwan2.delay`.
    pub path: String,
    /// The values as a file or `--set` would have them, in order.
    pub values: Vec<String>,
}

/// An axis that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub found: String,
    /// What to write instead.
    pub expected: &'static str,
    /// What to do, where there is more to say.
    pub remedy: Option<String>,
}

/// What is wrong with the values of an axis, and what to write instead where that is known.
struct Wrong {
    found: String,
    remedy: Option<String>,
}

impl From<String> for Wrong {
    fn from(found: String) -> Self {
        Self { found, remedy: None }
    }
}

impl fmt::Display for AxisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--over '{}': {}\n  expected: {}", self.text, self.found, self.expected)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, "\n  remedy: {remedy}"))
    }
}

impl std::error::Error for AxisError {}

const FORM: &str = "path=value,value,... or path=first..last/step or path=first..last*factor, for instance \
                    links.wwan2.delay=500ms..1000ms/50ms";

impl Axis {
    /// Reads `path=a,b,c`, `path=first..last/step` (both ends included) or `path=first..last*factor`. The numbers of a
    /// range carry one unit, which its last number may say alone.
    ///
    /// # Errors
    /// [`AxisError`] for any other text, and for a range without end.
    pub fn parse(text: &str) -> Result<Self, AxisError> {
        let error =
            |Wrong { found, remedy }| AxisError { text: text.to_string(), found, expected: FORM, remedy };
        let plain = |found: &str| error(Wrong::from(found.to_string()));
        let (path, values) = text.split_once('=').ok_or_else(|| plain("there is no \"=\""))?;
        let path = path.trim();
        if path.is_empty() {
            return Err(plain("there is no path before the \"=\""));
        }
        let values = values_of(values).map_err(error)?;
        Ok(Self { path: path.to_string(), values })
    }

    /// Reads the values alone, in the notation of [`Axis::parse`].
    ///
    /// # Errors
    /// As [`Axis::parse`].
    pub fn of(path: &str, values: &str) -> Result<Self, AxisError> {
        Self::parse(&format!("{path}={values}"))
    }
}

/// The values of a list or a range.
fn values_of(text: &str) -> Result<Vec<String>, Wrong> {
    let Some((first, rest)) = text.split_once("..") else {
        let values: Vec<String> = split_list(text);
        return match values.iter().any(String::is_empty) {
            true => Err("a value is empty".to_string().into()),
            false => Ok(values),
        };
    };
    let (last, step, geometric) = match (rest.split_once('*'), rest.rsplit_once('/')) {
        (Some((last, factor)), _) => (last, factor, true),
        // A rate has a stroke of its own: "1 Mbit/s..2 Mbit/s/100 kbit/s".
        (None, Some((last, "s"))) if last.rsplit_once('/').is_some() => {
            let at = last.find("/s/").map_or(last.rfind('/').unwrap_or(0), |at| at + 2);
            (&rest[..at], &rest[at + 1..], false)
        }
        (None, Some((last, step))) => (last, step, false),
        (None, None) => {
            let remedy =
                Some("a step behind it, as in \"0..10/2\", or the values with commas between".to_string());
            return Err(Wrong { found: format!("the range \"{text}\" has no step"), remedy });
        }
    };
    range(first.trim(), last.trim(), step.trim(), geometric)
}

/// Splits at commas outside of brackets and quotes, so that a value may be a table or a list.
fn split_list(text: &str) -> Vec<String> {
    let (mut values, mut value, mut depth, mut quoted) = (Vec::new(), String::new(), 0u32, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            ',' if depth == 0 && !quoted => {
                values.push(std::mem::take(&mut value).trim().to_string());
                continue;
            }
            _ => {}
        }
        value.push(c);
    }
    values.push(value.trim().to_string());
    values
}

fn range(first: &str, last: &str, step: &str, geometric: bool) -> Result<Vec<String>, Wrong> {
    let texts = [first, last, step];
    let ((first, first_unit), (last, last_unit)) = (number(first)?, number(last)?);
    let (step, step_unit) = number(step)?;
    let unit = [first_unit, last_unit].into_iter().rfind(|unit| !unit.is_empty()).unwrap_or("");
    let wants = |given: &str| given.is_empty() || given == unit;
    if !wants(first_unit) || !wants(step_unit) || (geometric && !step_unit.is_empty()) {
        return Err(format!(
            "the numbers of a range carry one unit, not \"{first_unit}\", \"{last_unit}\" and \"{step_unit}\""
        )
        .into());
    }
    let (leads_there, steps) = if geometric {
        let sound = first > 0.0 && last > 0.0 && step > 0.0 && step != 1.0;
        (sound, (last / first).ln() / step.ln())
    } else {
        (step != 0.0, (last - first) / step)
    };
    if !leads_there || steps.is_nan() || steps < 0.0 {
        let [of_first, of_last, of_step] = texts;
        return Err(leads_nowhere([(of_first, first), (of_last, last), (of_step, step)], geometric));
    }
    // A last value that rounding alone keeps out belongs to the range.
    let count = (steps + 1e-9).floor();
    if count >= MAX_VALUES as f64 {
        let remedy = Some("a larger step".to_string());
        return Err(Wrong { found: format!("the range has more than {MAX_VALUES} values"), remedy });
    }
    let value = |k: usize| if geometric { first * step.powi(k as i32) } else { first + k as f64 * step };
    let space = if unit.is_empty() { "" } else { " " };
    Ok((0..=count as usize).map(|k| format!("{}{space}{unit}", plain(value(k)))).collect())
}

/// Says of a range whose step does not lead from its first to its last value what does. Each part is its text and its
/// number.
fn leads_nowhere([first, last, step]: [(&str, f64); 3], geometric: bool) -> Wrong {
    let sign = if geometric { '*' } else { '/' };
    let range = |a: &str, b: &str, step: &str| format!("\"{a}..{b}{sign}{step}\"");
    let whole = range(first.0, last.0, step.0);
    let (found, remedy) = if geometric && (step.1 <= 0.0 || step.1 == 1.0) {
        (
            format!("{whole} has the factor {}, which leads nowhere", step.0),
            "a factor above 1, or below it to fall".into(),
        )
    } else if geometric && (first.1 <= 0.0 || last.1 <= 0.0) {
        let steps = format!("\"{}..{}/STEP\"", first.0, last.0);
        (format!("{whole} multiplies, and no factor leads from or to 0"), format!("ends above 0, or {steps}"))
    } else if step.1 == 0.0 {
        (format!("{whole} has a step of 0, and no end"), "a step other than 0".to_string())
    } else {
        let (way, other) = if first.1 < last.1 { ("rises", "falls") } else { ("falls", "rises") };
        let turned = match (geometric, step.0.strip_prefix('-')) {
            (true, _) => plain(1.0 / step.1),
            (false, Some(positive)) => positive.to_string(),
            (false, None) => format!("-{}", step.0),
        };
        let remedy = format!("{} or {}", range(last.0, first.0, step.0), range(first.0, last.0, &turned));
        (format!("\"{}..{}\" {way}, and \"{sign}{}\" {other}", first.0, last.0, step.0), remedy)
    };
    Wrong { found, remedy: Some(remedy) }
}

/// A number and the unit behind it.
fn number(text: &str) -> Result<(f64, &str), String> {
    let trimmed = text.trim();
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_');
    let mut split = trimmed.find(|c| !numeric(c)).unwrap_or(trimmed.len());
    if let Some(exponent) = trimmed[split..].strip_prefix(['e', 'E'])
        && exponent.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    {
        let digits = exponent[1..].find(|c: char| !c.is_ascii_digit()).map_or(exponent.len(), |at| at + 1);
        split += 1 + digits;
    }
    let (number, unit) = trimmed.split_at(split);
    let number: f64 =
        number.replace('_', "").parse().map_err(|_| format!("\"{trimmed}\" is not a number with a unit"))?;
    if number.is_finite() { Ok((number, unit.trim())) } else { Err(format!("\"{trimmed}\" is too large")) }
}

/// A number to twelve digits, so that sums of decimal steps are decimal, and without an exponent.
fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let digits = 11 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", digits.clamp(0, 300) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// A quantity as a number in its base unit: "500 ms" is 0.5 s, "0.6 %" is 0.006. `None` for any other text.
pub fn in_base_unit(text: &str) -> Option<(f64, &'static str)> {
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some((number, "1"));
    }
    if let Some(percent) = text.strip_suffix('%') {
        return percent.trim().parse::<f64>().ok().map(|number| (number / 100.0, "1"));
    }
    if let Ok(duration) = text.parse::<Duration>() {
        return Some((duration.as_secs_f64(), "s"));
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some((rate.as_bps() as f64, "bit/s"));
    }
    text.parse::<ByteCount>().ok().map(|bytes| (bytes.as_u64() as f64, "B"))
}
