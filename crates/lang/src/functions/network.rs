//! Functions of address blocks.

use groma_value::{Number, Type, Value};

use super::cidr::{Address, Block, Family, Ordinal, parse_address, parse_block};
use super::signature::{Arguments, Function, FunctionError, Outcome, Parameter, whole};

/// Maximal number of bits that `cidrsubnets` adds to a prefix.
const MOST_NEW_BITS: u32 = 32;

pub(super) fn functions() -> Vec<Function> {
    let number = Parameter::number;
    let of_block = |name, result, body| Function::fixed(name, result, body).takes(Parameter::text("prefix"));
    vec![
        of_block("cidrhost", Type::String, cidrhost).takes(number("hostnum")),
        of_block("cidrnetmask", Type::String, cidrnetmask),
        of_block("cidrsubnet", Type::String, cidrsubnet).takes(number("newbits")).takes(number("netnum")),
        of_block("cidrsubnets", Type::list(Type::String), cidrsubnets).takes_more(number("newbits")),
        Function::fixed("cidrcontains", Type::Bool, cidrcontains)
            .takes(Parameter::text("containing_prefix"))
            .takes(Parameter::text("contained_ip_or_prefix")),
    ]
}

fn block(arguments: &Arguments<'_>) -> Result<Block, FunctionError> {
    parse_block(arguments.text(0)).map_err(FunctionError::of)
}

/// A host or subnet number, which may be as great as an IPv6 address.
fn ordinal(number: &Number) -> Result<Ordinal, FunctionError> {
    if !number.is_integer() {
        return Err(FunctionError::new("value must be a whole number"));
    }
    let text = number.to_string();
    let (from_end, digits) = text.strip_prefix('-').map_or((false, &*text), |digits| (true, digits));
    // Greater numbers are beyond every block, as the greatest of ours is too.
    let magnitude: u128 = digits.parse().unwrap_or(u128::MAX);
    Ok(Ordinal { magnitude: if from_end { magnitude.saturating_sub(1) } else { magnitude }, from_end })
}

fn cidrhost(arguments: &Arguments<'_>) -> Outcome {
    let number = ordinal(&arguments.number(1))?;
    block(arguments)?.host(number).map(|host| Value::string(host.to_string())).map_err(FunctionError::of)
}

fn cidrnetmask(arguments: &Arguments<'_>) -> Outcome {
    let block = block(arguments)?;
    match block.family {
        Family::V4 => Ok(Value::string(block.netmask().to_string())),
        Family::V6 => Err(FunctionError::new(format!("IPv6 addresses cannot have a netmask: {}", arguments.text(0)))),
    }
}

fn cidrsubnet(arguments: &Arguments<'_>) -> Outcome {
    let new_bits = arguments.integer(1)?;
    let number = ordinal(&arguments.number(2))?;
    if number.from_end {
        return Err(FunctionError::new("the number of a subnet must not be negative: subnets are numbered from 0"));
    }
    let block = block(arguments)?;
    let new_bits = u32::try_from(new_bits)
        .map_err(|_| FunctionError::argument(1, "must not be negative: a subnet has a longer prefix than its block"))?;
    block.subnet(new_bits, number).map(|subnet| Value::string(subnet.to_string())).map_err(FunctionError::of)
}

fn cidrsubnets(arguments: &Arguments<'_>) -> Outcome {
    let block = parse_block(arguments.text(0)).map_err(|problem| FunctionError::argument(0, problem.to_string()))?;
    let bits = block.family.bits();
    let mut next = Some(block.first);
    let mut before = block.to_string();
    let mut subnets = Vec::new();
    for index in 1..arguments.values.len() {
        let problem = |text: String| FunctionError::argument(index, text);
        let extension = whole(&arguments.number(index)).map_err(|wrong| problem(wrong.to_string()))?;
        // Capped, so that a number that does not fit gets the message about too many bits below.
        let Ok(extension) = u32::try_from(extension.min(1 << 20)) else {
            return Err(problem("must extend prefix by at least one bit".to_owned()));
        };
        if extension == 0 {
            return Err(problem("must extend prefix by at least one bit".to_owned()));
        }
        if extension > MOST_NEW_BITS {
            return Err(problem(format!("may not extend prefix by more than {MOST_NEW_BITS} bits")));
        }
        let length = block.length + extension;
        if length > bits {
            let family = block.family.name();
            return Err(problem(format!("would make a prefix of {length} bits, more than an {family} address has")));
        }
        let subnet = block.allocate(next, length).ok_or_else(|| {
            problem(format!("there is no room left for a block with a prefix of {length} bits after {before}"))
        })?;
        // Nothing at the end of the address space, where no further block fits.
        next = subnet.last().checked_add(1);
        before = subnet.to_string();
        subnets.push(Value::string(&before));
    }
    Ok(Value::list(Type::String, subnets))
}

fn cidrcontains(arguments: &Arguments<'_>) -> Outcome {
    let containing = block(arguments)?;
    let given = arguments.text(1);
    let (first, last) = match (parse_address(given), parse_block(given)) {
        (Some(address), _) => (address, address),
        (None, Ok(block)) => {
            let address = |number| Address { family: block.family, number };
            (address(block.first), address(block.last()))
        }
        (None, Err(_)) => {
            return Err(FunctionError::new(format!("invalid IP address or prefix: {given}")));
        }
    };
    if first.family != containing.family {
        return Err(FunctionError::new(format!("address family mismatch: {} vs. {given}", arguments.text(0))));
    }
    Ok(Value::bool(containing.contains(first) && containing.contains(last)))
}
