import { requireUser } from "../../lib/user";

export default async function Reports() {
  const { id, name } = await requireUser();
  return (
    <p>
      You are {name}, user {id}.
    </p>
  );
}
