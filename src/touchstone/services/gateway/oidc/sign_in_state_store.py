"""The list of completed sign-ins at identity providers."""

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.identity_provider_errors import InvalidSignInState
from touchstone.database.engine import Writer
from touchstone.database.tables import used_sign_in_states
from touchstone.services.gateway.oidc.sign_in_states import SignInState


async def use_state(transaction: Writer, state: SignInState) -> None:
    """Record that a state has been used, and delete the expired ones.

    Raises:
        InvalidSignInState: the state has been used before. The transaction must end in this case.
    """
    deletion = sa.delete(used_sign_in_states).where(used_sign_in_states.c.expires_at < datetime.now(UTC))
    await transaction.execute(deletion)

    expires_at = datetime.fromtimestamp(state.expires_at, UTC)
    insertion = sa.insert(used_sign_in_states).values(digest=state.digest, expires_at=expires_at)
    try:
        await transaction.execute(insertion)
    except IntegrityError as error:
        raise InvalidSignInState from error
